//! Contradictions in a history.

use thiserror::Error;

use crate::bytes::Bytes;
use crate::ids::{Address, EventIndex};

/// A contradiction between an event and earlier events, or between a history and its dump.
///
/// An event that contradicts earlier events is left out of the account. Where history and dump differ, the history
/// stands, except for the block sizes, which the dump knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Inconsistency {
    /// An address was allocated twice.
    #[error("event {} allocates {address}, which is still in use", event.0)]
    AllocatedTwice {
        /// The event.
        event: EventIndex,
        /// The address.
        address: Address,
    },
    /// An address was freed twice.
    #[error("event {} frees {address}, which is free already", event.0)]
    FreedTwice {
        /// The event.
        event: EventIndex,
        /// The address.
        address: Address,
    },
    /// The free range at the address is too small for the block. The block is counted all the same.
    #[error("event {} allocates {} bytes at {address}, where only {} are free", event.0, requested.0, free.0)]
    TooLittleSpace {
        /// The event.
        event: EventIndex,
        /// The address.
        address: Address,
        /// The requested size in the trace.
        requested: Bytes,
        /// The size of the free range.
        free: Bytes,
    },
    /// Device memory was reserved twice.
    #[error("event {} reserves device memory at {address}, which overlaps the segment at {other}", event.0)]
    SegmentOverlap {
        /// The event.
        event: EventIndex,
        /// The address.
        address: Address,
        /// The start of the segment in the way.
        other: Address,
    },
    /// Device memory was released that was not reserved.
    #[error("event {} releases device memory at {address}, which is not reserved", event.0)]
    NotReserved {
        /// The event.
        event: EventIndex,
        /// The address.
        address: Address,
    },
    /// More memory is active than reserved, for the first time: segment events are missing.
    #[error("{} bytes are in use after event {}, but only {} are reserved", active.0, event.0, reserved.0)]
    MoreThanReserved {
        /// The event.
        event: EventIndex,
        /// Active after the event.
        active: Bytes,
        /// Reserved after the event.
        reserved: Bytes,
    },
    /// A block is in use at the end of the history, but not in the dump.
    #[error("the block at {address} is in use after the last event, but not in the dump")]
    NotInDump {
        /// The address.
        address: Address,
    },
    /// A block is free at the end of the history, but in use in the dump.
    #[error("the block at {address} is free after the last event, but in use in the dump")]
    InUseInDump {
        /// The address.
        address: Address,
    },
    /// Trace and dump disagree on whether a free was requested.
    #[error("the history and the dump disagree on whether the block at {address} was freed")]
    PendingInDump {
        /// The address.
        address: Address,
    },
    /// A block's size by the rules differs from the dump. The size in the dump is used.
    #[error("the block at {address} is {} bytes by the allocator's rules, but {} in the dump", reckoned.0, dumped.0)]
    SizeInDump {
        /// The address.
        address: Address,
        /// The size by the rules.
        reckoned: Bytes,
        /// The size in the dump.
        dumped: Bytes,
    },
    /// The reserved memory at the end of the history differs from the dump.
    #[error("{} bytes are reserved after the last event, but {} in the dump, or at other addresses", reckoned.0, dumped.0)]
    SegmentsInDump {
        /// Reserved by the history.
        reckoned: Bytes,
        /// Reserved in the dump.
        dumped: Bytes,
    },
}

/// The contradictions of a history: all are counted, the first are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inconsistencies {
    /// The first contradictions.
    pub first: Vec<Inconsistency>,
    /// The number of all contradictions.
    pub count: u64,
}

impl Inconsistencies {
    /// The most contradictions kept. A forged history can have one per event.
    pub const KEPT: usize = 64;

    pub(super) fn add(&mut self, inconsistency: Inconsistency) {
        self.count += 1;
        if self.first.len() < Inconsistencies::KEPT {
            self.first.push(inconsistency);
        }
    }
}
