//! The first difference between a replay and its recording.

use trace::{Action, Address, EventIndex};

use crate::error::MallocError;

/// A thing that was otherwise when it was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The allocator asked the device for something else: what, where and how many bytes.
    Segment {
        /// The event that the recording has here.
        event: EventIndex,
        /// What the replay did.
        replayed: (Action, Option<Address>, u64),
        /// What was recorded; `None` at the end.
        recorded: Option<(Action, Address, u64)>,
    },
    /// A request got another block.
    Placement {
        /// The request.
        event: EventIndex,
        /// Where the replay put it.
        replayed: Address,
        /// Where it was.
        recorded: Address,
    },
    /// A request failed that had not.
    Failure {
        /// The request.
        event: EventIndex,
        /// Why.
        error: MallocError,
    },
    /// The recording goes on where the replay has nothing more to do.
    Missing {
        /// The first event that did not come.
        event: EventIndex,
    },
}
