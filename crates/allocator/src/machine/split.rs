//! Allocating a found block, and splitting off the unused part (`should_split`, `alloc_found_block`).

use trace::Action;

use super::{Allocator, Observer, Wanted};
use crate::block::Block;
use crate::device::Device;
use crate::ids::BlockId;
use crate::size::{MIN_BLOCK_BYTES, SMALL_BYTES};

impl<D: Device, O: Observer> Allocator<D, O> {
    /// Allocates a free block, or the front of it.
    #[inline]
    pub(super) fn alloc_found(&mut self, found: BlockId, wanted: &Wanted) -> BlockId {
        let remaining = self.blocks[found].size - wanted.size;
        let id = if self.splits(wanted, remaining) {
            self.split_front(found, wanted.size)
        } else {
            self.count_whole_block(found);
            found
        };
        self.mark_allocated(id, wanted.requested);
        id
    }

    #[inline]
    fn splits(&self, wanted: &Wanted, remaining: u64) -> bool {
        if wanted.pool.owner().is_some_and(|owner| self.private_pools[owner.index()].options.no_split) {
            return false;
        }
        if wanted.pool.is_small() || wanted.expands {
            return remaining >= MIN_BLOCK_BYTES;
        }
        self.settings.max_split_size.is_none_or(|max| wanted.size < max.0) && remaining > SMALL_BYTES
    }

    /// Splits off the front; the remainder keeps its id and returns to its pool.
    #[inline]
    fn split_front(&mut self, remaining: BlockId, size: u64) -> BlockId {
        let was_split = self.blocks[remaining].is_split();
        let tie = self.blocks[remaining].tie;
        let tie = self.number_of_part(tie);
        let whole = &mut self.blocks[remaining];
        let front = Block { size, tie, requested: 0, next: remaining, ..*whole };
        whole.address += size;
        whole.size -= size;
        let (pool, is_expandable, left) = (whole.pool, whole.is_expandable(), whole.size);
        let id = self.blocks.add(front);
        self.blocks.link(id);
        self.cache(remaining);
        if !is_expandable && was_split {
            self.stats.inactive_split_bytes.decrease(pool.is_small(), size);
        } else if !is_expandable {
            self.stats.inactive_split_bytes.increase(pool.is_small(), left);
            self.stats.inactive_split.increase(pool.is_small(), 1);
        }
        id
    }

    #[inline]
    fn count_whole_block(&mut self, id: BlockId) {
        let block = &self.blocks[id];
        if block.is_split() && !block.is_expandable() {
            self.stats.inactive_split_bytes.decrease(block.pool.is_small(), block.size);
            self.stats.inactive_split.decrease(block.pool.is_small(), 1);
        }
    }

    #[inline]
    fn mark_allocated(&mut self, id: BlockId, requested: u64) {
        self.count_allocated(id, requested);
        let block = &self.blocks[id];
        let (address, stream) = (block.address, block.stream);
        self.observe(Action::Alloc, address, requested, stream);
    }

    #[inline]
    pub(super) fn count_allocated(&mut self, id: BlockId, requested: u64) {
        let block = &mut self.blocks[id];
        (block.allocated, block.requested) = (true, requested);
        let (size, is_small) = (block.size, block.pool.is_small());
        self.stats.allocation.increase(is_small, 1);
        self.stats.allocated_bytes.increase(is_small, size);
        self.stats.active.increase(is_small, 1);
        self.stats.active_bytes.increase(is_small, size);
        self.stats.requested_bytes.increase(is_small, requested);
        if self.is_oversize(size) {
            self.stats.oversize_allocations.increase(1);
        }
    }
}
