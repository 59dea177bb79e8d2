//! A table of hashes that all processes of a run share: a mapped file. No lock, no allocation.

use std::sync::atomic::{AtomicU64, Ordering};

use wire::digest::{FNV_EMPTY, extend_fnv};

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
    Made = 1,
    /// The content is in the stash.
    Content = 2,
    /// The length is in the journal.
    Length = 3,
    /// Mode, owner and times are in the journal.
    Attributes = 4,
    /// The times of a folder are in the journal.
    Times = 5,
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
        let file = kernel::open(libc::AT_FDCWD, path.text(), libc::O_RDWR | libc::O_CREAT, 0o600)?;
        // A page without a block on a full disk would end the program at its first use.
        match kernel::reserve(&file, size_of::<Table>()) {
            Err(libc::EOPNOTSUPP | libc::ENOSYS) => kernel::set_length(&file, size_of::<Table>() as u64)?,
            answer => answer?,
        }
        let address = kernel::map(Some(&file), size_of::<Table>())?;
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

/// The hash of a fact about a file. The time of birth tells the file from a later one with its number; without that
/// time, the path does.
pub(super) fn hash(fact: Fact, stat: &Stat, path: &[u8]) -> u64 {
    let mut hash = extend_fnv(FNV_EMPTY, &[fact as u8]);
    for number in [stat.device, stat.inode, stat.born as u64] {
        hash = extend_fnv(hash, &number.to_ne_bytes());
    }
    if stat.born == 0 {
        hash = extend_fnv(hash, path);
    }
    hash.max(1)
}
