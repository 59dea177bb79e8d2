//! What can be wrong with a history.

use thiserror::Error;

use crate::bytes::Bytes;
use crate::ids::{Address, EventIndex};

/// An event that contradicts those before it. It was left out of the account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Inconsistency {
    /// An address was handed out twice.
    #[error("event {} hands out {address}, inside the block at {other} that is still in use", event.0)]
    Overlap {
        /// Which event.
        event: EventIndex,
        /// Where.
        address: Address,
        /// The start of the block in use.
        other: Address,
    },
    /// There is no room for the block where it is said to be.
    #[error("event {} hands out {} bytes at {address}, where only {} are free", event.0, requested.0, free.0)]
    NoRoom {
        /// Which event.
        event: EventIndex,
        /// Where.
        address: Address,
        /// What the trace says was asked for.
        requested: Bytes,
        /// The room that there is.
        free: Bytes,
    },
    /// Device memory was obtained twice.
    #[error("event {} obtains device memory at {address}, which overlaps the segment at {other}", event.0)]
    SegmentOverlap {
        /// Which event.
        event: EventIndex,
        /// Where.
        address: Address,
        /// The start of the segment in the way.
        other: Address,
    },
    /// Device memory was given back while a block in it was in use.
    #[error("event {} gives back device memory at {address}, in which the block at {block} is in use", event.0)]
    SegmentInUse {
        /// Which event.
        event: EventIndex,
        /// Where.
        address: Address,
        /// The start of the block in use.
        block: Address,
    },
}
