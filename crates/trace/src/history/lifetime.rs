//! One allocation from its beginning to its end, in 40 bytes.

use crate::bytes::Bytes;
use crate::ids::{Address, EventIndex};
use crate::stack::StackId;

/// A moment of a history: before its first event, right after an event, or never. Ordered in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(u32);

impl Moment {
    /// Before the first event of the history.
    pub const BEFORE: Moment = Moment(0);
    /// Neither within the history nor before.
    pub const NEVER: Moment = Moment(u32::MAX);

    /// Right after `event`.
    pub const fn after(event: EventIndex) -> Moment {
        Moment(event.0.saturating_add(1))
    }

    /// The event just before the moment; `None` for [`Moment::BEFORE`] and [`Moment::NEVER`].
    pub const fn event_before(self) -> Option<EventIndex> {
        match self {
            Moment::BEFORE | Moment::NEVER => None,
            Moment(n) => Some(EventIndex(n - 1)),
        }
    }

    /// The number of events between `earlier` and this moment.
    pub const fn since(self, earlier: Moment) -> u32 {
        self.0.saturating_sub(earlier.0)
    }
}

impl From<EventIndex> for Moment {
    fn from(event: EventIndex) -> Moment {
        Moment::after(event)
    }
}

/// The index of a [`Lifetime`] in its history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LifetimeId(pub u32);

/// One allocation from its beginning to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// The address of the block.
    pub address: Address,
    /// The size of the block, which PyTorch counts in `allocated_bytes`.
    pub block: Bytes,
    /// The requested size.
    pub requested: Bytes,
    /// The stack of the allocation, from the event or from the dump.
    pub stack: StackId,
    /// The moment of the allocation; [`Moment::BEFORE`] for a block older than the history.
    pub begun: Moment,
    /// The moment of `free_requested`.
    pub free_requested: Moment,
    /// The moment of `free_completed`: later than `free_requested` if another stream still used the block.
    pub free_completed: Moment,
}

impl Lifetime {
    /// The event of the allocation; `None` for a block older than the history.
    pub fn allocation_event(&self) -> Option<EventIndex> {
        self.begun.event_before()
    }

    /// The end of the block.
    pub fn end(&self) -> Address {
        self.address.offset(self.block.0)
    }

    /// Tests that the block is allocated at a moment: right after an event, or before the first.
    pub fn is_live_after(&self, moment: impl Into<Moment>) -> bool {
        let moment = moment.into();
        self.begun <= moment && moment < self.free_requested
    }

    /// Tests that the block is active at a moment: allocated, or freed but still used by a stream.
    pub fn is_active_after(&self, moment: impl Into<Moment>) -> bool {
        let moment = moment.into();
        self.begun <= moment && moment < self.free_completed
    }
}
