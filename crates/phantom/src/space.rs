//! The ranges of addresses in use, and the memory behind ranges that the host may touch.
//!
//! # Note [Device addresses]
//!
//! Device memory has no memory behind it: addresses are numbers in [`DEVICE_RANGE`], where Linux maps nothing. A program that reads
//! through a device address crashes, as it would with a real GPU. Allocations get rising addresses, so that runs are reproducible and
//! stale pointers are recognised. Addresses repeat only after 64 TiB of allocations: then the range is searched for a gap from the
//! start. Pinned and managed memory are real, zero until touched.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::ledger::{self, OutOfMemory, Owner};
use crate::ranges::{DEVICE_RANGE, is_device};
use crate::{host, values};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RangeKind {
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
    /// Host memory of the program, registered by the program.
    Registered,
    /// Managed memory: real host memory, pages of which would move to the device.
    Managed,
}

/// A range of addresses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AddressRange {
    /// Start of the range.
    pub(crate) address: usize,
    /// Length of the range.
    pub(crate) bytes: usize,
    pub(crate) kind: RangeKind,
    /// The device of the allocation.
    pub(crate) device: u32,
    /// The owner that the ledger charges.
    pub(crate) owner: Owner,
}

#[derive(Debug)]
struct Space {
    next: usize,
    ranges: BTreeMap<usize, AddressRange>,
}

static SPACE: Mutex<Space> = Mutex::new(Space::EMPTY);

fn lock() -> MutexGuard<'static, Space> {
    SPACE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Space {
    const EMPTY: Space = Space { next: DEVICE_RANGE.start, ranges: BTreeMap::new() };

    /// Finds free addresses behind the last allocation, else the first gap.
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
pub(crate) fn find(address: usize) -> Option<AddressRange> {
    let space = lock();
    let (_, range) = space.ranges.range(..=address).next_back()?;
    (address < range.address + range.bytes).then_some(*range)
}

/// Allocates device memory, charged to `owner`. From 2 MiB on, memory is aligned to a page, as the driver does.
pub(crate) fn allocate(device: u32, owner: Owner, bytes: usize) -> Result<usize, OutOfMemory> {
    ledger::take(device, owner, bytes as u64)?;
    let alignment = if bytes as u64 >= ledger::PAGE_BYTES { ledger::PAGE_BYTES as usize } else { 512 };
    let address = place(RangeKind::Device, device, owner, bytes, alignment);
    if address.is_none() {
        ledger::give_back(device, owner, bytes as u64);
    }
    address.ok_or(OutOfMemory)
}

/// Reserves device addresses that cost nothing.
pub(crate) fn place(kind: RangeKind, device: u32, owner: Owner, bytes: usize, alignment: usize) -> Option<usize> {
    let mut space = lock();
    let address = space.fresh(bytes, alignment)?;
    space.ranges.insert(address, AddressRange { address, bytes, kind, device, owner });
    Some(address)
}

/// Inserts a range at known addresses: registered host memory, a mapping inside a reservation.
pub(crate) fn note(range: AddressRange) {
    lock().ranges.insert(range.address, range);
}

/// Removes the range of a kind that starts at `address`; `None` without such a range.
pub(crate) fn take_out(address: usize, kind: RangeKind) -> Option<AddressRange> {
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

/// Frees memory of [`allocate`]; `None` unless a range starts at `address`.
pub(crate) fn free(address: usize) -> Option<()> {
    let range = take_out(address, RangeKind::Device)?;
    ledger::give_back(range.device, range.owner, range.bytes as u64);
    Some(())
}

/// Maps real, zeroed host memory without pages until the first touch.
pub(crate) fn map_host(kind: RangeKind, device: u32, owner: Owner, bytes: usize) -> Option<usize> {
    let address = host::map(bytes.max(1))?;
    note(AddressRange { address, bytes, kind, device, owner });
    Some(address)
}

/// Unmaps memory of [`map_host`]; `None` unless a range of the kind starts at `address`.
pub(crate) fn unmap_host(address: usize, kind: RangeKind) -> Option<()> {
    let range = take_out(address, kind)?;
    host::unmap(range.address, range.bytes.max(1))
}

#[cfg(test)]
mod tests {
    use super::{AddressRange, DEVICE_RANGE, RangeKind, Space};

    const TIB: usize = 1 << 40;

    fn take(space: &mut Space, bytes: usize) -> Option<usize> {
        let address = space.fresh(bytes, 512)?;
        let extent = AddressRange { address, bytes, kind: RangeKind::Device, device: 0, owner: "pytorch" };
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
