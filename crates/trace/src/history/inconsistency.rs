//! What can be wrong with a history.

use thiserror::Error;

use crate::bytes::Bytes;
use crate::ids::{Address, EventIndex};

/// A contradiction between an event and those before it, or between the history and the dump that ends it.
///
/// An event that contradicts those before it is left out of the account. Where history and dump differ, the history
/// stands, except that the dump knows the sizes of its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Inconsistency {
    /// An address was handed out twice.
    #[error("event {} hands out {address}, which is still in use", event.0)]
    HandedOutTwice {
        /// Which event.
        event: EventIndex,
        /// Where.
        address: Address,
    },
    /// An address was freed twice.
    #[error("event {} frees {address}, which is free already", event.0)]
    FreedTwice {
        /// Which event.
        event: EventIndex,
        /// Where.
        address: Address,
    },
    /// There is no room for the block where it is said to be. It is counted all the same.
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
    /// Device memory was given back that was not held.
    #[error("event {} gives back device memory at {address}, which is not held", event.0)]
    NotHeld {
        /// Which event.
        event: EventIndex,
        /// Where.
        address: Address,
    },
    /// More is in use than is held, for the first time: events of segments are missing.
    #[error("{} bytes are in use after event {}, but only {} are held", active.0, event.0, reserved.0)]
    MoreThanHeld {
        /// Which event.
        event: EventIndex,
        /// In use after it.
        active: Bytes,
        /// Held after it.
        reserved: Bytes,
    },
    /// A block is in use at the end of the history and not in the dump.
    #[error("the block at {address} is in use after the last event, but not in the dump")]
    NotInDump {
        /// Where.
        address: Address,
    },
    /// A block is free at the end of the history and in use in the dump.
    #[error("the block at {address} is free after the last event, but in use in the dump")]
    InUseInDump {
        /// Where.
        address: Address,
    },
    /// The program let go of a block, or not, depending on whom one asks.
    #[error("the history and the dump differ in whether the program had let go of the block at {address}")]
    PendingInDump {
        /// Where.
        address: Address,
    },
    /// A block's size by the rules is not the one in the dump. The dump's is taken.
    #[error("the block at {address} is {} bytes by the allocator's rules, but {} in the dump", reckoned.0, dumped.0)]
    SizeInDump {
        /// Where.
        address: Address,
        /// By the rules.
        reckoned: Bytes,
        /// In the dump.
        dumped: Bytes,
    },
    /// Device memory at the end of the history is not what the dump shows.
    #[error("{} bytes are held after the last event, but {} in the dump, or at other addresses", reckoned.0, dumped.0)]
    SegmentsInDump {
        /// By the history.
        reckoned: Bytes,
        /// In the dump.
        dumped: Bytes,
    },
}

/// The contradictions of a history: all are counted, the first are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inconsistencies {
    /// The first of them.
    pub first: Vec<Inconsistency>,
    /// How many there are.
    pub count: u64,
}

impl Inconsistencies {
    /// How many are kept. A made-up history can have as many as it has events, and they all say the same.
    pub const KEPT: usize = 64;

    pub(super) fn add(&mut self, inconsistency: Inconsistency) {
        self.count += 1;
        if self.first.len() < Inconsistencies::KEPT {
            self.first.push(inconsistency);
        }
    }
}
