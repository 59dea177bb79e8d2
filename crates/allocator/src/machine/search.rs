//! Best fit: which cached block serves a request (`get_free_block`).

use super::{Allocator, Observer, Wanted};
use crate::device::Device;
use crate::free_set::{FreeSet, Key, Place};
use crate::ids::BlockId;

impl<D: Device, O: Observer> Allocator<D, O> {
    /// The cached block that serves a request, taken out of its pool.
    ///
    /// One candidate is looked at. Where the rules for oversize blocks refuse it, nothing else is tried.
    #[inline]
    pub(super) fn take_free(&mut self, wanted: &Wanted) -> Option<BlockId> {
        if self.collects_garbage() {
            self.pools[wanted.pool.index()].searches += 1;
        }
        let set = self.pools[wanted.pool.index()].free_of(wanted.stream)?;
        let mut place = set.lower_bound(Key::first_of(wanted.size));
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

    /// Oversize blocks are for oversize requests, and for those that fill them well.
    #[inline]
    fn is_refused(&self, block: u64, size: u64) -> bool {
        let Some(max_split) = self.settings.max_split_size else { return false };
        if size < max_split.0 { block >= max_split.0 } else { block >= size + self.settings.max_non_split_rounding.0 }
    }

    /// Among expandable blocks those count as larger that could still grow; without the setting they are passed over.
    fn best_expandable(&self, set: &FreeSet, first: Place, wanted: &Wanted) -> Option<Place> {
        if wanted.expands { Some(self.least_expandable(set, first)) } else { self.first_fixed(set, first) }
    }

    /// Goes on while the next block could grow to less than this one. It stops at the first that could not, as PyTorch does.
    fn least_expandable(&self, set: &FreeSet, first: Place) -> Place {
        let mut place = first;
        while let (Some(block), Some(next)) = (set.get(place), set.get(set.after(place))) {
            if !self.blocks[block].is_expandable() || self.expanded_size(next) >= self.expanded_size(block) {
                break;
            }
            place = set.after(place);
        }
        place
    }

    /// The size that a block can grow to.
    fn expanded_size(&self, id: BlockId) -> u64 {
        let block = &self.blocks[id];
        let tail = block.next.some().map(|next| &self.blocks[next]).filter(|next| !next.mapped);
        block.size + tail.map_or(0, |tail| tail.size)
    }

    fn first_fixed(&self, set: &FreeSet, first: Place) -> Option<Place> {
        let mut place = first;
        while self.blocks[set.get(place)?].is_expandable() {
            place = set.after(place);
        }
        Some(place)
    }
}
