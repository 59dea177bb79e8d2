//! The state as a snapshot shows it: segments and their blocks.

use trace::{Address, BlockState, Bytes, SegmentKind, Stream};

use super::{Allocator, Observer};
use crate::device::Device;
use crate::ids::{BlockId, PrivatePoolId};

/// A segment, or a mapped range of an expandable one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentView {
    /// The first address.
    pub address: Address,
    /// Its size.
    pub total_size: Bytes,
    /// The stream of the segment.
    pub stream: Stream,
    /// The size class.
    pub kind: SegmentKind,
    /// Set for a mapped range of an expandable segment.
    pub is_expandable: bool,
    /// The private pool of the segment.
    pub pool: Option<PrivatePoolId>,
    /// The blocks, by address; together they fill the segment.
    pub blocks: Vec<BlockView>,
}

/// A block of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockView {
    /// Its size.
    pub size: Bytes,
    /// The requested size; stale on inactive blocks, as in PyTorch.
    pub requested_size: Bytes,
    /// The current state.
    pub state: BlockState,
}

impl<D: Device, O: Observer> Allocator<D, O> {
    /// The segments, by address.
    pub fn segments(&self) -> Vec<SegmentView> {
        let heads = self.blocks.ids().filter(|&id| self.begins_segment(id));
        let mut segments: Vec<SegmentView> = heads.map(|head| self.segment_at(head)).collect();
        segments.sort_by_key(|segment| segment.address);
        segments
    }

    fn begins_segment(&self, id: BlockId) -> bool {
        let block = &self.blocks[id];
        block.mapped && block.prev.some().is_none_or(|prev| !self.blocks[prev].mapped)
    }

    fn segment_at(&self, head: BlockId) -> SegmentView {
        let next = |&id: &BlockId| self.blocks[id].next.some().filter(|&next| self.blocks[next].mapped);
        let blocks: Vec<BlockView> = std::iter::successors(Some(head), next).map(|id| self.block_view(id)).collect();
        let first = &self.blocks[head];
        SegmentView {
            address: Address(first.address),
            total_size: Bytes(blocks.iter().map(|block| block.size.0).sum()),
            stream: first.stream,
            kind: if first.pool.is_small() { SegmentKind::Small } else { SegmentKind::Large },
            is_expandable: first.is_expandable(),
            pool: first.pool.owner(),
            blocks,
        }
    }

    fn block_view(&self, id: BlockId) -> BlockView {
        let block = &self.blocks[id];
        let state = match () {
            () if block.allocated => BlockState::ActiveAllocated,
            () if !block.is_free() => BlockState::ActivePendingFree,
            () => BlockState::Inactive,
        };
        BlockView { size: Bytes(block.size), requested_size: Bytes(block.requested), state }
    }
}
