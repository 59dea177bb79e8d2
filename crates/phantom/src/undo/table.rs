//! A table of hashes that all processes of a run share: a mapped file. No lock, no allocation.

use std::sync::atomic::{AtomicU64, Ordering};

use wire::account::{MADE, MADE_LATER, hash_fact};

use super::kernel::{self, Answer, Stat};
use super::place::Place;

/// Slots for hashes: 2 MiB.
const PLACES: usize = 1 << 18;
/// Slots tried for a hash. If all are full, the hash stays unknown, and a file is preserved twice.
const PROBES: usize = 64;

/// The facts that a hash stands for.
#[derive(Clone, Copy)]
pub(super) enum Fact {
    /// The run made the file.
    Made = MADE as isize,
    /// The content is in the stash.
    Content = 2,
    /// The length is in the journal.
    Length = 3,
    /// Mode, owner and times are in the journal.
    Attributes = 4,
    /// The times of a folder are in the journal.
    Times = 5,
    /// A helper is going to make a file of this path.
    MadeLater = MADE_LATER as isize,
}

#[repr(C)]
pub(super) struct Table {
    /// The last number that was given to a file of the stash.
    last: AtomicU64,
    hashes: [AtomicU64; PLACES],
}

impl Table {
    /// Maps the table of a folder; makes the file first if this process is the first.
    pub(super) fn map(path: &Place) -> Answer<&'static Table> {
        let address = kernel::map_reserved(path.text(), size_of::<Table>())?;
        // SAFETY: the mapping has the size of a table, is never unmapped, and all fields are atomic.
        Ok(unsafe { &*address.cast::<Table>() })
    }

    /// A number that no other file of the stash has.
    pub(super) fn number(&self) -> u64 {
        self.last.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn has(&self, hash: u64) -> bool {
        for probe in 0..PROBES {
            match self.hashes[(hash as usize).wrapping_add(probe) % PLACES].load(Ordering::Acquire) {
                0 => return false,
                known if known == hash => return true,
                _ => {}
            }
        }
        false
    }

    /// Adds a hash. What the hash stands for is in the journal by now.
    pub(super) fn add(&self, hash: u64) {
        for probe in 0..PROBES {
            let place = &self.hashes[(hash as usize).wrapping_add(probe) % PLACES];
            match place.compare_exchange(0, hash, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return,
                Err(known) if known == hash => return,
                Err(_) => {}
            }
        }
    }
}

/// The hash of a fact about a file.
pub(super) fn hash(fact: Fact, stat: &Stat, path: &[u8]) -> u64 {
    hash_fact(fact as u8, stat.identity(), path)
}
