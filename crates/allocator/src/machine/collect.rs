//! Garbage collection by age (`garbage_collect_cached_blocks`).

use super::{Allocator, Observer};
use crate::device::Device;
use crate::ids::{BlockId, PoolIndex};

/// The blocks that may be released.
struct Collectable {
    age: u64,
    count: u64,
}

impl Collectable {
    fn mean_age(&self) -> f64 {
        self.age as f64 / self.count as f64
    }
}

impl<D: Device, O: Observer> Allocator<D, O> {
    /// Tests that a threshold and a limit are set.
    #[inline]
    pub(super) fn collects_garbage(&self) -> bool {
        self.settings.garbage_collection_threshold > 0.0 && self.allowed_bytes.is_some()
    }

    /// Releases old segments of the shared large pool until the reserved memory is below the threshold.
    pub(super) fn collect_garbage(&mut self) {
        let Some(target) = self.bytes_over_threshold() else { return };
        let mut left = self.collectable();
        let mut freed = 0;
        while freed < target && left.count > 0 {
            let pass = self.collect_older_than(left.mean_age(), &mut left);
            if pass == 0 {
                return;
            }
            freed += pass;
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "as in PyTorch; the limit is far below 2^53"
    )]
    fn bytes_over_threshold(&self) -> Option<u64> {
        let allowed = self.allowed_bytes?;
        let threshold = (self.settings.garbage_collection_threshold * allowed as f64) as u64;
        self.reserved_bytes.checked_sub(threshold).filter(|&over| over > 0)
    }

    fn age(&self, id: BlockId) -> u64 {
        self.pools[PoolIndex::LARGE.index()].searches - self.blocks[id].gc_base
    }

    fn collectable(&self) -> Collectable {
        let mut sum = Collectable { age: 0, count: 0 };
        for id in self.pools[PoolIndex::LARGE.index()].free_blocks() {
            if !self.blocks[id].is_split() {
                sum.age += self.age(id);
                sum.count += 1;
            }
        }
        sum
    }

    /// Releases all blocks older than `age`, without stopping early; returns the bytes released.
    fn collect_older_than(&mut self, age: f64, left: &mut Collectable) -> u64 {
        let blocks: Vec<BlockId> = self.pools[PoolIndex::LARGE.index()].free_blocks().collect();
        let mut freed = 0;
        for id in blocks {
            let block = &self.blocks[id];
            if block.is_split() || block.is_expandable() || (self.age(id) as f64) < age {
                continue;
            }
            freed += block.size;
            left.age -= self.age(id);
            left.count -= 1;
            self.release_segment(id);
        }
        freed
    }
}
