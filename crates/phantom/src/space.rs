//! Addresses: what each one is, and the memory behind those that the host may touch.
//!
//! # Note [Device addresses]
//!
//! Device memory has no memory behind it: its addresses are numbers in a range where Linux maps nothing by itself
//! (programs lie near `0x55…`, libraries and stacks near `0x7f…`). Nothing ever reads through them; a program that
//! does crashes, as it would on a GPU. New memory is handed out at rising addresses, so that runs are reproducible and a
//! stale pointer is recognised. Only a program that has been given 64 TiB in all, one piece after the other, sees addresses
//! again: what lies free is searched from the start of the range. Pinned and managed memory are real, zero until touched.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::ledger::{self, OutOfMemory, Owner};
use crate::ranges::{DEVICE_RANGE, is_device};
use crate::{host, values};

/// What an address belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `cudaMalloc` and its like: charged to the device.
    Device,
    /// A range of addresses without memory (`cuMemAddressReserve`).
    Reserved,
    /// A range of addresses with a physical allocation mapped to it (`cuMemMap`).
    Mapped,
    /// A variable of a kernel module: a little memory that the context has already.
    Symbol,
    /// Pinned host memory that we mapped.
    Host,
    /// Host memory of the program's own that it registered.
    Registered,
    /// Managed memory: real host memory, pages of which would move to the device.
    Managed,
}

/// A range of addresses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    /// Where it starts.
    pub(crate) address: usize,
    /// How long it is.
    pub(crate) bytes: usize,
    /// What it is.
    pub(crate) kind: Kind,
    /// The device it was made on.
    pub(crate) device: u32,
    /// Who made it.
    pub(crate) owner: Owner,
}

#[derive(Debug)]
struct Space {
    next: usize,
    ranges: BTreeMap<usize, Extent>,
}

static SPACE: Mutex<Space> = Mutex::new(Space::EMPTY);

fn lock() -> MutexGuard<'static, Space> {
    SPACE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Space {
    const EMPTY: Space = Space { next: DEVICE_RANGE.start, ranges: BTreeMap::new() };

    /// Addresses behind the last that were handed out, else the first that are free.
    fn fresh(&mut self, bytes: usize, alignment: usize) -> Option<usize> {
        let alignment = alignment.max(512);
        let starts = [self.next, DEVICE_RANGE.start];
        let address = starts.into_iter().find_map(|start| self.gap(start, bytes, alignment))?;
        self.next = address + bytes;
        Some(address)
    }

    /// The first free addresses from `start` on.
    fn gap(&self, start: usize, bytes: usize, alignment: usize) -> Option<usize> {
        let mut address = start.checked_next_multiple_of(alignment)?;
        loop {
            let end = address.checked_add(bytes).filter(|&end| end <= DEVICE_RANGE.end)?;
            let last = self.ranges.range(..end).next_back().map(|(_, range)| range.address + range.bytes);
            match last.filter(|&taken| taken > address) {
                Some(taken) => address = taken.checked_next_multiple_of(alignment)?,
                None => return Some(address),
            }
        }
    }
}

/// The range that `address` lies in.
pub(crate) fn find(address: usize) -> Option<Extent> {
    let space = lock();
    let (_, range) = space.ranges.range(..=address).next_back()?;
    (address < range.address + range.bytes).then_some(*range)
}

/// Gives out device memory, charged to `owner`. Larger pieces are aligned to a page, as the driver's are.
pub(crate) fn allocate(device: u32, owner: Owner, bytes: usize) -> Result<usize, OutOfMemory> {
    ledger::take(device, owner, bytes as u64)?;
    let alignment = if bytes as u64 >= ledger::PAGE_BYTES { ledger::PAGE_BYTES as usize } else { 512 };
    let address = place(Kind::Device, device, owner, bytes, alignment);
    if address.is_none() {
        ledger::give_back(device, owner, bytes as u64);
    }
    address.ok_or(OutOfMemory)
}

/// Reserves device addresses that cost nothing.
pub(crate) fn place(kind: Kind, device: u32, owner: Owner, bytes: usize, alignment: usize) -> Option<usize> {
    let mut space = lock();
    let address = space.fresh(bytes, alignment)?;
    space.ranges.insert(address, Extent { address, bytes, kind, device, owner });
    Some(address)
}

/// Notes a range whose addresses are known: registered host memory, a mapping inside a reservation.
pub(crate) fn note(range: Extent) {
    lock().ranges.insert(range.address, range);
}

/// Takes a range of the given kind out; `None` unless one starts exactly there.
pub(crate) fn take_out(address: usize, kind: Kind) -> Option<Extent> {
    let mut space = lock();
    if space.ranges.get(&address)?.kind != kind {
        return None;
    }
    let range = space.ranges.remove(&address);
    drop(space);
    if is_device(address) {
        values::forget(address, range.map_or(0, |range| range.bytes));
    }
    range
}

/// Frees what [`allocate`] gave out; `None` unless a range starts exactly there.
pub(crate) fn free(address: usize) -> Option<()> {
    let range = take_out(address, Kind::Device)?;
    ledger::give_back(range.device, range.owner, range.bytes as u64);
    Some(())
}

/// Maps real, zeroed host memory that takes no space until it is touched.
pub(crate) fn map_host(kind: Kind, device: u32, owner: Owner, bytes: usize) -> Option<usize> {
    let address = host::map(bytes.max(1))?;
    note(Extent { address, bytes, kind, device, owner });
    Some(address)
}

/// Unmaps what [`map_host`] mapped; `None` unless a range of that kind starts exactly there.
pub(crate) fn unmap_host(address: usize, kind: Kind) -> Option<()> {
    let range = take_out(address, kind)?;
    host::unmap(range.address, range.bytes.max(1))
}

#[cfg(test)]
mod tests {
    use super::{DEVICE_RANGE, Extent, Kind, Space};

    const TIB: usize = 1 << 40;

    fn take(space: &mut Space, bytes: usize) -> Option<usize> {
        let address = space.fresh(bytes, 512)?;
        let extent = Extent { address, bytes, kind: Kind::Device, device: 0, owner: "pytorch" };
        space.ranges.insert(address, extent);
        Some(address)
    }

    #[test]
    fn addresses_rise_until_the_range_is_used_up() {
        let mut space = Space::EMPTY;
        let taken: Vec<usize> = (0..64).filter_map(|_| take(&mut space, TIB)).collect();
        assert!(taken.iter().enumerate().all(|(at, &address)| address == DEVICE_RANGE.start + at * TIB));
        assert_eq!((taken.len(), take(&mut space, 1)), (64, None));
        for at in [3, 7, 8] {
            space.ranges.remove(&taken[at]);
        }
        let next = [TIB, 2 * TIB, TIB / 2, TIB / 2].map(|bytes| take(&mut space, bytes));
        assert_eq!(next, [Some(taken[3]), Some(taken[7]), None, None]);
    }
}
