//! Releasing cached memory to the device (`release_cached_blocks`, `release_available_cached_blocks`).

use trace::{Action, Address};

use super::{Allocator, Observer, Wanted};
use crate::device::Device;
use crate::error::MallocError;
use crate::free_set::SortKey;
use crate::ids::{BlockId, PoolIndex, PrivatePoolId};

impl<D: Device, O: Observer> Allocator<D, O> {
    /// `torch.cuda.empty_cache`.
    pub fn empty_cache(&mut self) {
        self.release_cached(None);
    }

    /// Releases every wholly free segment: of one unused private pool, or of all pools.
    pub(super) fn release_cached(&mut self, of: Option<PrivatePoolId>) {
        if of.is_none() && !self.is_capturing() {
            self.wait_for_events(|_, _| true);
            self.release_pool_blocks(PoolIndex::LARGE);
            self.release_pool_blocks(PoolIndex::SMALL);
        }
        self.release_unused_private_pools(of);
    }

    /// Releases segments first, in the order of the pool, then the pages of expandable segments.
    pub(super) fn release_pool_blocks(&mut self, pool: PoolIndex) {
        let blocks: Vec<BlockId> = self.pools[pool.index()].free_blocks().collect();
        let (expandable, fixed): (Vec<_>, Vec<_>) = blocks.into_iter().partition(|&id| self.blocks[id].is_expandable());
        for id in fixed {
            if !self.blocks[id].is_split() {
                self.release_segment(id);
            }
        }
        for id in expandable {
            self.release_pages(id);
        }
    }

    /// `cudaFree` of a segment that is a single free block.
    pub(super) fn release_segment(&mut self, id: BlockId) {
        self.uncache(id);
        let block = &self.blocks[id];
        let (address, size, stream, pool) = (block.address, block.size, block.stream, block.pool);
        self.stats.num_device_free += 1;
        self.observe(Action::SegmentFree, address, size, stream);
        self.device.release(Address(address), size);
        self.reserved_bytes -= size;
        self.count_device_free(pool);
        self.stats.segment.decrease(pool.is_small(), 1);
        self.stats.reserved_bytes.decrease(pool.is_small(), size);
        if self.is_oversize(size) {
            self.stats.oversize_segments.decrease(1);
        }
        self.blocks.remove(id);
    }

    /// Releases as few oversize blocks as make room for a request; returns `true` on success.
    pub(super) fn release_oversize(&mut self, wanted: &Wanted) -> Result<bool, MallocError> {
        let Some(max_split) = self.settings.max_split_size else { return Ok(false) };
        let needed = wanted.size.max(max_split.0);
        let Some(set) = self.pools[wanted.pool.index()].free_of(wanted.stream) else { return Ok(false) };
        let place = set.lower_bound(SortKey::first_of(needed));
        if let Some(block) = set.get(place)
            && self.is_releasable(block)?
        {
            self.release_segment(block);
            return Ok(true);
        }
        let before = std::iter::successors(set.before(place), |&place| set.before(place));
        let smaller: Vec<BlockId> = before.filter_map(|place| set.get(place)).collect();
        self.release_several(&smaller, needed, max_split.0)
    }

    /// Releases oversize blocks, largest first, until enough memory is free. Expandable blocks are skipped.
    fn release_several(&mut self, blocks: &[BlockId], needed: u64, max_split: u64) -> Result<bool, MallocError> {
        let mut released = 0;
        for &id in blocks {
            if released >= needed || self.blocks[id].size < max_split {
                break;
            }
            if self.is_releasable(id)? {
                released += self.blocks[id].size;
                self.release_segment(id);
            }
        }
        Ok(released >= needed)
    }

    /// Tests that a block is a whole segment. PyTorch 2.1 to 2.5 stop with an internal assertion at an expandable
    /// block. No oversize block is split, unless the program lowered `max_split_size`; PyTorch then calls `cudaFree`
    /// with an address inside a segment.
    fn is_releasable(&self, id: BlockId) -> Result<bool, MallocError> {
        let block = &self.blocks[id];
        if block.is_expandable() && self.rules.oversize_release_asserts {
            return Err(MallocError::ExpandableReleased);
        }
        Ok(!block.is_expandable() && !block.is_split())
    }
}
