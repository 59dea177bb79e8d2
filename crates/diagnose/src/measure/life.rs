//! What the rest of the crate asks of an allocation: the one place that knows how `trace` states it.

use trace::{Address, Bytes, EventIndex, Lifetime, Moment};

/// An allocation from its beginning to its end.
pub(crate) trait Life {
    /// Where it starts.
    fn address(&self) -> Address;
    /// What it got, as the allocator counts.
    fn block(&self) -> Bytes;
    /// What was asked for.
    fn requested(&self) -> Bytes;
    /// The event that made it; `None` where it is older than the history.
    fn begun(&self) -> Option<EventIndex>;
    /// The event by which the program let go of it, the first if it was before the history; `None` where none did.
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
        self.event()
    }

    fn freed(&self) -> Option<EventIndex> {
        // A block that was waiting for a stream when the history began was let go of before it.
        let before = (self.free_requested == Moment::BEFORE).then_some(EventIndex(0));
        self.free_requested.event().or(before)
    }
}
