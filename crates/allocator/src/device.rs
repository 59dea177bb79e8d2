//! The interface of the device under the allocator, and a simulated device.

use std::collections::{BTreeMap, BTreeSet};

use trace::{Address, Stream};

use crate::size::ROUND_LARGE_BYTES;

/// Memory of `cudaMalloc` and of the driver's virtual memory functions. Sizes are in bytes.
pub trait Device {
    /// The device's total memory.
    fn total_bytes(&self) -> u64;
    /// The memory that no process uses.
    fn free_bytes(&self) -> u64;
    /// `cudaMalloc`; `None` = out of memory.
    fn allocate(&mut self, bytes: u64) -> Option<Address>;
    /// `cudaFree` of memory from [`Device::allocate`].
    fn release(&mut self, address: Address, bytes: u64);
    /// `cuMemAddressReserve`: address space without memory.
    fn reserve(&mut self, space: Space) -> Address;
    /// `cuMemAddressFree` of address space from [`Device::reserve`]. A device that uses no address twice has nothing to
    /// do.
    fn unreserve(&mut self, _: Address) {}
    /// Maps memory into a range, all pages or none. `false` = out of memory.
    fn map(&mut self, address: Address, pages: Pages) -> bool;
    /// Unmaps the memory of a range.
    fn unmap(&mut self, address: Address, pages: Pages);
}

/// Address space for an expandable segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// The size, a whole number of pages.
    pub bytes: u64,
    /// The size of the pages that will be mapped.
    pub page_bytes: u64,
    /// The stream of the segment.
    pub stream: Stream,
}

/// A number of equal pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pages {
    /// The number of pages.
    pub count: u64,
    /// The size of one page in bytes.
    pub page_bytes: u64,
}

impl Pages {
    /// The address space of the pages.
    pub fn bytes(self) -> u64 {
        self.count * self.page_bytes
    }

    /// The memory of the pages, each rounded up to the driver's page.
    fn physical_bytes(self) -> u64 {
        self.count * self.page_bytes.next_multiple_of(ROUND_LARGE_BYTES)
    }
}

/// A device that serves requests until its memory is used up. New memory lies at rising addresses; released memory
/// serves requests of its own size again, lowest address first. Address space is never used again. The order of a real
/// driver is unknown, and matters only for [`crate::Tie::Address`].
#[derive(Clone, Debug)]
pub struct SimulatedDevice {
    total_bytes: u64,
    used_bytes: u64,
    next_allocated: u64,
    next_reserved: u64,
    /// Released addresses, by size.
    vacant: BTreeMap<u64, BTreeSet<u64>>,
}

impl SimulatedDevice {
    /// More memory than any device has, and little enough for all addresses to fit (Note `[Keys]` in `free_set.rs`).
    pub const NEVER_FULL_BYTES: u64 = 1 << 42;
    /// Reservations begin at multiples of this size, and never where another reservation ends.
    const RESERVED_ALIGNMENT: u64 = 1 << 30;

    /// The first address of `cudaMalloc`.
    pub const FIRST_ALLOCATED: Address = Address(1 << 44);
    /// The first address of expandable segments.
    pub const FIRST_RESERVED: Address = Address(1 << 46);

    /// A device with `total_bytes` of memory, of which other processes use `used_bytes`.
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
