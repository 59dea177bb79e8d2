//! The first difference between a replay and its recording.

use trace::{Action, Address, EventIndex};

use crate::error::MallocError;

/// A difference between replay and recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The allocator's call to the device differs: action, address and size.
    Segment {
        /// The event recorded at this position.
        event: EventIndex,
        /// The call of the replay.
        replayed: (Action, Option<Address>, u64),
        /// The recorded call; `None` at the end of the recording.
        recorded: Option<(Action, Address, u64)>,
    },
    /// A request got another block.
    Placement {
        /// The request.
        event: EventIndex,
        /// The address in the replay.
        replayed: Address,
        /// The recorded address.
        recorded: Address,
    },
    /// A request failed that succeeded when it was recorded.
    Failure {
        /// The request.
        event: EventIndex,
        /// The error.
        error: MallocError,
    },
    /// The recording has further device calls after the end of the replay.
    Missing {
        /// The first event without a counterpart.
        event: EventIndex,
    },
}
