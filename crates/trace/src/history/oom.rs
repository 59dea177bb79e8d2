//! Requests that failed, to the byte.

use super::History;
use super::lifetime::Moment;
use super::size::kind;
use super::state::SegmentState;
use super::totals::Totals;
use crate::bytes::Bytes;
use crate::event::Event;
use crate::ids::{EventIndex, PoolId, Stream};

/// A request that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedRequest {
    /// Which event.
    pub event: EventIndex,
    /// What was asked for, rounded up as a block is.
    pub requested: Bytes,
    /// What was free on the device, after PyTorch had given back what it could.
    pub device_free: Bytes,
    /// For which stream.
    pub stream: Stream,
    /// From which pool, where the version writes it.
    pub pool: Option<PoolId>,
    /// The allocator's counters at that moment.
    pub totals: Totals,
}

/// The largest free blocks at the moment of a failed request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FreeBlocks {
    /// Among those that could have served it: of its stream, its size class, and its pool as far as that is known.
    pub serving: Bytes,
    /// Among all.
    pub any: Bytes,
}

impl FailedRequest {
    pub(super) fn new(event: EventIndex, said: &Event, totals: Totals) -> FailedRequest {
        let (requested, device_free) = (said.size, Bytes(said.address.0));
        FailedRequest { event, requested, device_free, stream: said.stream, pool: said.pool, totals }
    }

    /// The memory that PyTorch's allocator can have on this device at that moment: what it has and what is free. The
    /// rest of the device is the CUDA context, other libraries, other processes.
    pub fn capacity(&self) -> Bytes {
        self.totals.reserved + self.device_free
    }

    /// Whether a free block of `segment` could have served it.
    fn may_come_from(&self, segment: &SegmentState, is_default: impl Fn(PoolId) -> bool) -> bool {
        let same_pool = match (self.pool, segment.pool) {
            (Some(asked), Some(pool)) => asked == pool,
            (None, Some(pool)) => is_default(pool),
            (_, None) => true,
        };
        let same_kind = segment.kind.is_none_or(|of_segment| of_segment == kind(self.requested));
        same_pool && same_kind && self.stream == segment.stream
    }
}

impl History {
    /// The largest free blocks when `request` failed. A request that does not say its pool (before torch 2.12) is taken
    /// to be for the default pool, of which `is_default` holds.
    pub fn free_blocks_at(&self, request: &FailedRequest, is_default: impl Fn(PoolId) -> bool) -> FreeBlocks {
        let state = self.state_after(Moment::after(request.event));
        FreeBlocks {
            serving: state.largest_gap(|segment| request.may_come_from(segment, &is_default)),
            any: state.largest_gap(|_| true),
        }
    }
}
