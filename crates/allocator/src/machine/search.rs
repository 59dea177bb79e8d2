//! Best fit: the search for a cached block (`get_free_block`).

use super::{Allocator, Observer, Wanted};
use crate::device::Device;
use crate::free_set::{FreeSet, Position, SortKey};
use crate::ids::BlockId;

impl<D: Device, O: Observer> Allocator<D, O> {
    /// Takes the best cached block for a request out of its pool.
    ///
    /// Only one candidate is considered. If the rules for oversize blocks reject it, the search ends.
    #[inline]
    pub(super) fn take_free(&mut self, wanted: &Wanted) -> Option<BlockId> {
        if self.collects_garbage() {
            self.pools[wanted.pool.index()].searches += 1;
        }
        let set = self.pools[wanted.pool.index()].free_of(wanted.stream)?;
        let mut place = set.lower_bound(SortKey::first_of(wanted.size));
        let first = set.get(place)?;
        if self.blocks[first].is_expandable() {
            place = self.best_expandable(set, place, wanted)?;
        }
        let block = set.get(place)?;
        if self.is_refused(self.blocks[block].size, wanted.size) {
            return None;
        }
        self.pools[wanted.pool.index()].free_of_mut(wanted.stream).remove_at(place);
        Some(block)
    }

    /// Rejects oversize blocks for requests that are not oversize or that leave too much of the block unused.
    #[inline]
    fn is_refused(&self, block: u64, size: u64) -> bool {
        let Some(max_split) = self.settings.max_split_size else { return false };
        if size < max_split.0 { block >= max_split.0 } else { block >= size + self.settings.max_non_split_rounding.0 }
    }

    /// Prefers the expandable block with the smallest size to which it can grow; without the setting, skips them.
    fn best_expandable(&self, set: &FreeSet, first: Position, wanted: &Wanted) -> Option<Position> {
        if wanted.expands { Some(self.least_expandable(set, first)) } else { self.first_fixed(set, first) }
    }

    /// Advances while the next block can grow to a smaller size. Stops at the first that cannot, as PyTorch does.
    fn least_expandable(&self, set: &FreeSet, first: Position) -> Position {
        let mut place = first;
        while let (Some(block), Some(next)) = (set.get(place), set.get(set.after(place))) {
            if !self.blocks[block].is_expandable() || self.expanded_size(next) >= self.expanded_size(block) {
                break;
            }
            place = set.after(place);
        }
        place
    }

    /// The size to which a block can grow.
    fn expanded_size(&self, id: BlockId) -> u64 {
        let block = &self.blocks[id];
        let tail = block.next.some().map(|next| &self.blocks[next]).filter(|next| !next.mapped);
        block.size + tail.map_or(0, |tail| tail.size)
    }

    fn first_fixed(&self, set: &FreeSet, first: Position) -> Option<Position> {
        let mut place = first;
        while self.blocks[set.get(place)?].is_expandable() {
            place = set.after(place);
        }
        Some(place)
    }
}
