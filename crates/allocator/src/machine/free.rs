//! Freeing a block, and merging it with free neighbours (`free`, `free_block`, `try_merge_blocks`).

use trace::{Action, Stream};

use super::{Allocator, Observer};
use crate::device::Device;
use crate::ids::BlockId;

impl<D: Device, O: Observer> Allocator<D, O> {
    /// Frees a block. The block returns to its pool at once unless other streams were recorded.
    #[inline]
    pub fn free(&mut self, id: BlockId) {
        self.count_freed(id);
        if !self.blocks[id].has_stream_uses {
            self.free_completed(id);
        } else if self.is_capturing() {
            self.deferred.push(id);
        } else {
            self.record_events(id);
        }
    }

    /// Frees a block that stays in use until [`Allocator::complete`]. For replays: a history shows when a block
    /// returned to its pool, but not which streams delayed it.
    pub fn free_later(&mut self, id: BlockId) {
        self.count_freed(id);
        self.blocks[id].events += 1;
        self.events.hold_block(id);
    }

    /// Completes a block of [`Allocator::free_later`]. Does nothing if waiting for all streams completed the block
    /// before.
    pub fn complete(&mut self, id: BlockId) {
        if self.events.release_block(id) {
            self.event_completed(id);
        }
    }

    #[inline]
    fn count_freed(&mut self, id: BlockId) {
        let block = &mut self.blocks[id];
        debug_assert!(block.allocated, "a block is freed once");
        block.allocated = false;
        let (address, size, requested, stream) = (block.address, block.size, block.requested, block.stream);
        let is_small = block.pool.is_small();
        self.stats.allocation.decrease(is_small, 1);
        self.stats.allocated_bytes.decrease(is_small, size);
        self.observe(Action::FreeRequested, address, requested, stream);
        if self.is_oversize(size) {
            self.stats.oversize_allocations.decrease(1);
        }
    }

    /// Counts an event as done; after the last event the block returns to its pool.
    pub(super) fn event_completed(&mut self, id: BlockId) {
        self.blocks[id].events -= 1;
        if self.blocks[id].events == 0 {
            self.free_completed(id);
        }
    }

    /// Merges a block with its free neighbours and caches the result.
    #[inline]
    pub(super) fn free_completed(&mut self, id: BlockId) {
        let block = &self.blocks[id];
        let (address, size, requested, stream) = (block.address, block.size, block.requested, block.stream);
        let (prev, next) = (block.prev, block.next);
        self.observe(Action::FreeCompleted, address, requested, stream);
        let merged = [self.merge(id, prev), self.merge(id, next)];
        self.cache(id);
        let block = &self.blocks[id];
        let is_small = block.pool.is_small();
        if !block.is_expandable() {
            let whole = block.is_split().then_some(block.size);
            self.count_inactive_split(is_small, whole, merged);
        }
        self.stats.active.decrease(is_small, 1);
        self.stats.active_bytes.decrease(is_small, size);
        self.stats.requested_bytes.decrease(is_small, requested);
    }

    /// Removes the neighbours from the counters and adds the merged block. Each counter moves once by the sum, as in
    /// PyTorch.
    #[inline]
    fn count_inactive_split(&mut self, is_small: bool, whole: Option<u64>, merged: [Option<u64>; 2]) {
        let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
        let (mut count, mut bytes) = (i64::from(whole.is_some()), whole.map_or(0, signed));
        for neighbour in merged.into_iter().flatten() {
            count -= 1;
            bytes -= signed(neighbour);
        }
        self.stats.inactive_split.change(is_small, count);
        self.stats.inactive_split_bytes.change(is_small, bytes);
    }

    /// Merges a free neighbour into a block that is in no pool; returns the neighbour's size, or `None` if it stays
    /// apart.
    #[inline]
    pub(super) fn merge(&mut self, into: BlockId, neighbour: BlockId) -> Option<u64> {
        let other = &self.blocks[neighbour.some()?];
        if !other.is_free() || other.mapped != self.blocks[into].mapped {
            return None;
        }
        let (address, size, prev, next, pool) = (other.address, other.size, other.prev, other.next, other.pool);
        if other.mapped {
            self.uncache(neighbour);
        } else {
            self.pools[pool.index()].remove_unmapped(neighbour);
        }
        let block = &mut self.blocks[into];
        block.size += size;
        if block.prev == neighbour {
            block.address = address;
            block.prev = prev;
        } else {
            block.next = next;
        }
        self.blocks.link(into);
        self.blocks.remove(neighbour);
        Some(size)
    }

    /// `Tensor.record_stream`: marks the block as used on another stream.
    pub fn record_stream(&mut self, id: BlockId, stream: Stream) {
        if stream == self.blocks[id].stream {
            return;
        }
        self.blocks[id].has_stream_uses = true;
        add_once(self.stream_uses.entry(id).or_default(), stream);
        if self.is_capturing() {
            add_once(self.capture_uses.entry(id).or_default(), stream);
        }
    }
}

fn add_once(streams: &mut Vec<Stream>, stream: Stream) {
    if !streams.contains(&stream) {
        streams.push(stream);
    }
}
