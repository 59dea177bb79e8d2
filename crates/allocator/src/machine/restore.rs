//! Restores the state before a recording: segments and blocks that exist from the start.

use trace::{Address, SegmentKind, SegmentState};

use super::expand::Expandable;
use super::{Allocator, Observer};
use crate::block::Block;
use crate::device::Device;
use crate::ids::{BlockId, PoolIndex, PrivatePoolId, SegmentIndex};
use crate::size::SMALL_SEGMENT_BYTES;

/// The assumed address space of a restored expandable segment. The real size is not recorded.
const RESTORED_SPACE_BYTES: u64 = 1 << 40;

impl<D: Device, O: Observer> Allocator<D, O> {
    /// Adds a segment with its blocks, and returns the blocks in use, by address. `requested` returns the requested
    /// size of the block at an address. Segments are added in the order of their addresses, which becomes the order of
    /// equal blocks; the real order is not recorded.
    pub fn restore_segment(
        &mut self,
        segment: &SegmentState,
        private: Option<PrivatePoolId>,
        requested: impl Fn(Address) -> Option<u64>,
    ) -> Vec<(Address, BlockId)> {
        let pool = PoolIndex::of(private, segment.kind == Some(SegmentKind::Small));
        self.count_restored(segment, pool);
        let (index, mut prev) = self.restored_space(segment, pool);
        let tie = self.new_number();
        let mut used = Vec::new();
        let gaps = segment.gaps().map(|gap| (gap.address, gap.size, None));
        let blocks = segment.used.iter().map(|block| (block.address, block.size, Some(block.pending)));
        let mut blocks: Vec<_> = gaps.chain(blocks).collect();
        blocks.sort_unstable_by_key(|&(address, _, _)| address);
        let mut free = Vec::new();
        for (address, size, state) in blocks {
            let whole = Block::whole_segment(address.0, size.0, segment.stream, pool, tie);
            let id = self.blocks.add(Block { segment: index, prev, ..whole });
            self.blocks.link(id);
            prev = id;
            match state {
                None => free.push(id),
                Some(pending) => {
                    self.restore_used(id, requested(address).unwrap_or(size.0), pending);
                    used.push((address, id));
                }
            }
        }
        self.restore_tail(prev, segment);
        for id in free {
            self.restore_free(id);
        }
        used
    }

    fn count_restored(&mut self, segment: &SegmentState, pool: PoolIndex) {
        self.reserved_bytes += segment.size.0;
        self.stats.reserved_bytes.increase(pool.is_small(), segment.size.0);
        self.count_device_alloc(pool);
        if segment.is_expandable {
            return;
        }
        self.stats.segment.increase(pool.is_small(), 1);
        if self.is_oversize(segment.size.0) {
            self.stats.oversize_segments.increase(1);
        }
    }

    fn restore_used(&mut self, id: BlockId, requested: u64, pending: bool) {
        self.count_allocated(id, requested);
        if pending {
            self.free_later(id);
        }
    }

    fn restore_free(&mut self, id: BlockId) {
        let block = &self.blocks[id];
        if block.is_split() && !block.is_expandable() {
            let (is_small, size) = (block.pool.is_small(), block.size);
            self.stats.inactive_split.increase(is_small, 1);
            self.stats.inactive_split_bytes.increase(is_small, size);
        }
        self.cache(id);
    }

    /// The expandable segment of a mapped range, and the unmapped block before the range: the last restored segment of
    /// the same stream and pool, if the range lies in its unmapped space, else a new segment that begins with the
    /// range.
    fn restored_space(&mut self, segment: &SegmentState, pool: PoolIndex) -> (SegmentIndex, BlockId) {
        if !segment.is_expandable {
            return (SegmentIndex::NONE, BlockId::NONE);
        }
        let around = self.pools[pool.index()].unmapped_of(segment.stream).find(|&id| {
            let block = &self.blocks[id];
            block.address < segment.address.0 && segment.address.0 - block.address < block.size
        });
        if let Some(id) = around {
            let block = &mut self.blocks[id];
            block.size = segment.address.0 - block.address;
            return (block.segment, id);
        }
        let page_bytes = if pool.is_small() { SMALL_SEGMENT_BYTES } else { self.settings.large_segment_size.0 };
        let index = SegmentIndex::new(self.segments.len());
        let size = RESTORED_SPACE_BYTES.next_multiple_of(page_bytes);
        self.segments.push(Some(Expandable::new(segment.address.0, size, page_bytes)));
        (index, BlockId::NONE)
    }

    /// The unmapped space behind the last block of a mapped range.
    fn restore_tail(&mut self, last: BlockId, segment: &SegmentState) {
        let Some(last) = last.some().filter(|_| segment.is_expandable) else { return };
        let Block { address, size, stream, pool, segment: index, tie, .. } = self.blocks[last];
        let Some(space) = self.segments[index.index()] else { return };
        let end = address + size;
        let Some(left) = space.end().checked_sub(end).filter(|&left| left > 0) else { return };
        let tail =
            Block { segment: index, mapped: false, prev: last, ..Block::whole_segment(end, left, stream, pool, tie) };
        let tail = self.blocks.add(tail);
        self.blocks.link(tail);
        self.pools[pool.index()].add_unmapped(stream, end, tail);
    }
}
