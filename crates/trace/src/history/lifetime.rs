//! One allocation from its beginning to its end, in 40 bytes.

use crate::bytes::Bytes;
use crate::ids::{Address, EventIndex};
use crate::stack::StackId;

/// A moment of a history: before its first event, right after one of them, or never. Ordered in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(u32);

impl Moment {
    /// Before the first event of the history.
    pub const BEFORE: Moment = Moment(0);
    /// Not within the history, nor before it.
    pub const NEVER: Moment = Moment(u32::MAX);

    /// Right after `event`.
    pub const fn after(event: EventIndex) -> Moment {
        Moment(event.0.saturating_add(1))
    }

    /// The event that it lies right after; `None` for [`Moment::BEFORE`] and [`Moment::NEVER`].
    pub const fn event(self) -> Option<EventIndex> {
        match self {
            Moment::BEFORE | Moment::NEVER => None,
            Moment(n) => Some(EventIndex(n - 1)),
        }
    }

    /// How many events lie between `earlier` and this moment.
    pub const fn since(self, earlier: Moment) -> u32 {
        self.0.saturating_sub(earlier.0)
    }
}

impl From<EventIndex> for Moment {
    fn from(event: EventIndex) -> Moment {
        Moment::after(event)
    }
}

/// The place of a [`Lifetime`] in the list of its history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LifetimeId(pub u32);

/// One allocation from its beginning to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// Where its block starts.
    pub address: Address,
    /// What the program got, and what PyTorch's `allocated_bytes` counts.
    pub block: Bytes,
    /// What the program asked for.
    pub requested: Bytes,
    /// Who asked for it, where recorded: by its event, else by the dump.
    pub stack: StackId,
    /// When it was handed out; [`Moment::BEFORE`] where it is older than the history.
    pub begun: Moment,
    /// When the program let go of it.
    pub free_requested: Moment,
    /// When the block went back to its pool: later than `free_requested` where another stream still used it.
    pub free_completed: Moment,
}

impl Lifetime {
    /// The event that handed it out; `None` where it is older than the history.
    pub fn event(&self) -> Option<EventIndex> {
        self.begun.event()
    }

    /// Where its block ends.
    pub fn end(&self) -> Address {
        self.address.offset(self.block.0)
    }

    /// Whether it is in the program's hands at a moment: right after an event, or before the first.
    pub fn is_live_after(&self, moment: impl Into<Moment>) -> bool {
        let moment = moment.into();
        self.begun <= moment && moment < self.free_requested
    }

    /// Whether its block is in use at a moment, by the program or still by a stream.
    pub fn is_active_after(&self, moment: impl Into<Moment>) -> bool {
        let moment = moment.into();
        self.begun <= moment && moment < self.free_completed
    }
}
