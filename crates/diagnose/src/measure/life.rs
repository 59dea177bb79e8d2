//! The lifetime of an allocation: the only file of this crate that reads `trace`'s lifetime fields.

use trace::{Address, Bytes, EventIndex, Lifetime, Moment};

/// The lifetime of an allocation.
pub(crate) trait Life {
    /// The block's start address.
    fn address(&self) -> Address;
    /// The block's size, as the allocator counts.
    fn block(&self) -> Bytes;
    /// The requested size.
    fn requested(&self) -> Bytes;
    /// The allocating event; `None` if the allocation is older than the history.
    fn begun(&self) -> Option<EventIndex>;
    /// The event of the free by the program, event 0 for a free before the history; `None` if the program never frees
    /// the block.
    fn freed(&self) -> Option<EventIndex>;
}

impl Life for Lifetime {
    fn address(&self) -> Address {
        self.address
    }

    fn block(&self) -> Bytes {
        self.block
    }

    fn requested(&self) -> Bytes {
        self.requested
    }

    fn begun(&self) -> Option<EventIndex> {
        self.allocation_event()
    }

    fn freed(&self) -> Option<EventIndex> {
        // A block that was waiting for a stream when the history began had been freed by the program before.
        let before = (self.free_requested == Moment::BEFORE).then_some(EventIndex(0));
        self.free_requested.event_before().or(before)
    }
}
