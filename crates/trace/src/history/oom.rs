//! Failed requests.

use super::History;
use super::lifetime::Moment;
use super::size::kind;
use super::state::SegmentState;
use super::totals::Totals;
use crate::bytes::Bytes;
use crate::event::Event;
use crate::ids::{EventIndex, PoolId, Stream};

/// A failed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedRequest {
    /// The event.
    pub event: EventIndex,
    /// The requested size, rounded up as a block.
    pub requested: Bytes,
    /// The free device memory, after PyTorch released its cache.
    pub device_free: Bytes,
    /// The stream of the request.
    pub stream: Stream,
    /// The pool of the request, in versions with pools.
    pub pool: Option<PoolId>,
    /// The allocator's counters at that moment.
    pub totals: Totals,
}

/// The largest free blocks at the moment of a failed request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FreeBlocks {
    /// The largest block for the request: of its stream, its size class, and its pool if known.
    pub serving: Bytes,
    /// The largest of all blocks.
    pub any: Bytes,
}

impl FailedRequest {
    pub(super) fn new(event: EventIndex, said: &Event, totals: Totals) -> FailedRequest {
        let (requested, device_free) = (said.size, Bytes(said.address.0));
        FailedRequest { event, requested, device_free, stream: said.stream, pool: said.pool, totals }
    }

    /// The memory available to PyTorch's allocator on this device at that moment: reserved plus free. The rest of the
    /// device holds the CUDA context, libraries, and foreign processes.
    pub fn capacity(&self) -> Bytes {
        self.totals.reserved + self.device_free
    }

    /// Tests that a free block of `segment` could have served the request.
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
    /// The largest free blocks at the failure of `request`. A request without a pool (before torch 2.12) is assumed to
    /// use the default pool, for which `is_default` holds.
    pub fn free_blocks_at(&self, request: &FailedRequest, is_default: impl Fn(PoolId) -> bool) -> FreeBlocks {
        let state = self.state_after(Moment::after(request.event));
        FreeBlocks {
            serving: state.largest_gap(|segment| request.may_come_from(segment, &is_default)),
            any: state.largest_gap(|_| true),
        }
    }
}
