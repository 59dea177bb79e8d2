//! The phantom's device: memory and reservations from one rising range of addresses, never used again.

use allocator::{Allocator, Device, Pages, SimulatedDevice, Space};
use trace::{Address, Event};

use crate::recorded::Location;

const PAGE_BYTES: u64 = 2 << 20;

/// The allocator under test; its events are collected.
pub(crate) type Model = Allocator<RecordedDevice, Vec<Event>>;

/// A device with the addresses of the recorded run.
pub(crate) struct RecordedDevice {
    account: SimulatedDevice,
    /// The next address of a device with one range for everything; `None` = the ranges of the simulated device.
    next: Option<u64>,
}

impl RecordedDevice {
    const FIRST: u64 = 1 << 44;

    pub(crate) fn new(total_bytes: u64, used_bytes: u64, has_one_range: bool) -> RecordedDevice {
        let next = has_one_range.then_some(RecordedDevice::FIRST);
        RecordedDevice { account: SimulatedDevice::new(total_bytes, used_bytes), next }
    }

    pub(crate) fn place(&self, address: Address) -> Location {
        let place = |range: &str, first: u64| Location(range.to_owned(), address.0 - first);
        match self.next {
            Some(_) => place("d", RecordedDevice::FIRST),
            None if address >= SimulatedDevice::FIRST_RESERVED => place("va", SimulatedDevice::FIRST_RESERVED.0),
            None => place("m", SimulatedDevice::FIRST_ALLOCATED.0),
        }
    }

    fn fresh(&mut self, bytes: u64) -> Option<Address> {
        let next = self.next.as_mut()?;
        let address = *next;
        *next += bytes.next_multiple_of(PAGE_BYTES);
        Some(Address(address))
    }
}

impl Device for RecordedDevice {
    fn total_bytes(&self) -> u64 {
        self.account.total_bytes()
    }

    fn free_bytes(&self) -> u64 {
        self.account.free_bytes()
    }

    fn allocate(&mut self, bytes: u64) -> Option<Address> {
        let address = self.account.allocate(bytes)?;
        Some(self.fresh(bytes).unwrap_or(address))
    }

    fn release(&mut self, address: Address, bytes: u64) {
        self.account.release(address, bytes);
    }

    fn reserve(&mut self, space: Space) -> Address {
        let address = self.account.reserve(space);
        self.fresh(space.bytes).unwrap_or(address)
    }

    fn map(&mut self, address: Address, pages: Pages) -> bool {
        self.account.map(address, pages)
    }

    fn unmap(&mut self, address: Address, pages: Pages) {
        self.account.unmap(address, pages);
    }
}
