//! What lies under the allocator: a device that gives memory and takes it back.

use std::collections::{BTreeMap, BTreeSet};

use trace::{Address, Stream};

use crate::size::ROUND_LARGE_BYTES;

/// Memory as `cudaMalloc` and the driver's virtual memory functions give it. Sizes are in bytes.
pub trait Device {
    /// The whole memory of the device.
    fn total_bytes(&self) -> u64;
    /// What nobody holds.
    fn free_bytes(&self) -> u64;
    /// `cudaMalloc`; `None` = out of memory.
    fn allocate(&mut self, bytes: u64) -> Option<Address>;
    /// `cudaFree` of what [`Device::allocate`] gave.
    fn release(&mut self, address: Address, bytes: u64);
    /// `cuMemAddressReserve`: address space with nothing behind it.
    fn reserve(&mut self, space: Space) -> Address;
    /// `cuMemAddressFree` of what [`Device::reserve`] gave. A device that uses no address twice has nothing to do.
    fn unreserve(&mut self, _: Address) {}
    /// Puts memory behind a range, in pages; all or nothing. `false` = out of memory.
    fn map(&mut self, address: Address, pages: Pages) -> bool;
    /// Takes the memory behind a range back.
    fn unmap(&mut self, address: Address, pages: Pages);
}

/// Address space for an expandable segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// Its size, a number of whole pages.
    pub bytes: u64,
    /// What it is mapped in.
    pub page_bytes: u64,
    /// The stream it is for.
    pub stream: Stream,
}

/// A number of equal pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pages {
    /// How many.
    pub count: u64,
    /// The size of each in bytes.
    pub page_bytes: u64,
}

impl Pages {
    /// The address space they take.
    pub fn bytes(self) -> u64 {
        self.count * self.page_bytes
    }

    /// The memory they take: each is rounded up to the driver's own pages.
    fn physical_bytes(self) -> u64 {
        self.count * self.page_bytes.next_multiple_of(ROUND_LARGE_BYTES)
    }
}

/// A device that serves while it has room. New memory lies at rising addresses; what was given back serves requests of
/// its own size again, the lowest address first. Address space is never used again. A real driver's order is its own,
/// and matters only for [`crate::Tie::Address`].
#[derive(Clone, Debug)]
pub struct SimulatedDevice {
    total_bytes: u64,
    used_bytes: u64,
    next_allocated: u64,
    next_reserved: u64,
    /// Addresses that were given back, by their size.
    vacant: BTreeMap<u64, BTreeSet<u64>>,
}

impl SimulatedDevice {
    /// More than any device has, and so little that all addresses fit (Note `[Keys]` in `free_set.rs`).
    pub const NEVER_FULL_BYTES: u64 = 1 << 42;
    /// Reservations of address space begin at multiples of this, and never where another ends.
    const RESERVED_ALIGNMENT: u64 = 1 << 30;

    /// Where addresses of `cudaMalloc` begin.
    pub const FIRST_ALLOCATED: Address = Address(1 << 44);
    /// Where addresses of expandable segments begin.
    pub const FIRST_RESERVED: Address = Address(1 << 46);

    /// A device of so much memory, of which others hold some.
    pub fn new(total_bytes: u64, used_bytes: u64) -> SimulatedDevice {
        SimulatedDevice {
            total_bytes,
            used_bytes: used_bytes.min(total_bytes),
            next_allocated: SimulatedDevice::FIRST_ALLOCATED.0,
            next_reserved: SimulatedDevice::FIRST_RESERVED.0,
            vacant: BTreeMap::new(),
        }
    }

    fn vacant_address(&mut self, bytes: u64) -> Option<u64> {
        self.vacant.get_mut(&bytes)?.pop_first()
    }

    fn new_address(&mut self, bytes: u64) -> u64 {
        let address = self.next_allocated;
        self.next_allocated += bytes;
        address
    }

    fn take(&mut self, bytes: u64) -> bool {
        let fits = bytes <= self.free_bytes();
        if fits {
            self.used_bytes += bytes;
        }
        fits
    }
}

impl Device for SimulatedDevice {
    fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    fn free_bytes(&self) -> u64 {
        self.total_bytes - self.used_bytes
    }

    fn allocate(&mut self, bytes: u64) -> Option<Address> {
        let physical = bytes.next_multiple_of(ROUND_LARGE_BYTES);
        let has_room = self.take(physical);
        has_room.then(|| Address(self.vacant_address(physical).unwrap_or_else(|| self.new_address(physical))))
    }

    fn release(&mut self, address: Address, bytes: u64) {
        let physical = bytes.next_multiple_of(ROUND_LARGE_BYTES);
        self.used_bytes -= physical;
        self.vacant.entry(physical).or_default().insert(address.0);
    }

    fn reserve(&mut self, space: Space) -> Address {
        let address = self.next_reserved;
        self.next_reserved += (space.bytes + 1).next_multiple_of(SimulatedDevice::RESERVED_ALIGNMENT);
        Address(address)
    }

    fn map(&mut self, _: Address, pages: Pages) -> bool {
        self.take(pages.physical_bytes())
    }

    fn unmap(&mut self, _: Address, pages: Pages) {
        self.used_bytes -= pages.physical_bytes();
    }
}
