//! Expandable segments: address space into which memory is mapped on demand.

use trace::{Action, Address, Bytes};

use super::{Allocator, Observer, Wanted};
use crate::block::Block;
use crate::device::{Device, Pages, Space};
use crate::ids::{BlockId, PoolIndex, SegmentIndex};
use crate::settings::Reserve;
use crate::size::SMALL_SEGMENT_BYTES;

/// A reservation of address space for one stream and pool (`ExpandableSegment`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Expandable {
    address: u64,
    size: u64,
    page_bytes: u64,
}

impl Expandable {
    pub(super) fn new(address: u64, size: u64, page_bytes: u64) -> Expandable {
        Expandable { address, size, page_bytes }
    }

    pub(super) fn end(&self) -> u64 {
        self.address + self.size
    }

    /// The pages that cover the first bytes of a range. The range begins at a page.
    fn covering(&self, bytes: u64) -> Pages {
        Pages { count: bytes.div_ceil(self.page_bytes), page_bytes: self.page_bytes }
    }

    /// The pages wholly within a range: the address of the first, and the pages.
    fn within(&self, address: u64, bytes: u64) -> Option<(u64, Pages)> {
        let begin = (address - self.address).div_ceil(self.page_bytes);
        let end = (address + bytes - self.address) / self.page_bytes;
        let count = end.checked_sub(begin).filter(|&count| count > 0)?;
        Some((self.address + begin * self.page_bytes, Pages { count, page_bytes: self.page_bytes }))
    }
}

impl<D: Device, O: Observer> Allocator<D, O> {
    /// Tests that requests to a pool use expandable segments.
    #[inline]
    pub(super) fn expands(&self, pool: PoolIndex) -> bool {
        self.settings.expandable_segments && !self.is_custom(pool)
    }

    /// Finds a large-enough free block; maps memory into it first if part of it is unmapped
    /// (`try_allocate_expandable_block`). Pages mapped before the device ran out stay mapped.
    pub(super) fn allocate_expandable(&mut self, wanted: &Wanted) -> Option<BlockId> {
        let mut candidate = self.find_expandable(wanted)?;
        if !self.blocks[candidate].mapped {
            let bytes = self.blocks[candidate].size.min(wanted.size);
            self.map_block(candidate, bytes)?;
        }
        while self.blocks[candidate].size < wanted.size {
            let next = self.blocks[candidate].next.some()?;
            let missing = wanted.size - self.blocks[candidate].size;
            let bytes = missing.min(self.blocks[next].size);
            self.map_block(next, bytes)?;
            candidate = next;
        }
        self.uncache(candidate);
        Some(candidate)
    }

    /// Finds the lowest run of free and unmapped blocks that is long enough, else makes a new segment.
    fn find_expandable(&mut self, wanted: &Wanted) -> Option<BlockId> {
        let pool = &self.pools[wanted.pool.index()];
        let mut starts = pool.unmapped_of(wanted.stream).map(|unmapped| self.start_of_run(unmapped));
        let found = starts.find(|&start| self.has_room(start, wanted.size));
        drop(starts);
        if found.is_some() {
            return found;
        }
        let block = self.reserve_segment(wanted);
        if self.rules.unfit_segment_is_dropped && self.blocks[block].size < wanted.size {
            self.drop_segment(block);
            return None;
        }
        Some(block)
    }

    /// The free block just before unmapped space, else the space itself.
    fn start_of_run(&self, unmapped: BlockId) -> BlockId {
        let prev = self.blocks[unmapped].prev;
        prev.some().filter(|&prev| self.blocks[prev].is_free()).unwrap_or(unmapped)
    }

    fn has_room(&self, start: BlockId, bytes: u64) -> bool {
        let mut room = 0;
        let mut next = start.some();
        while let Some(id) = next.filter(|&id| room < bytes && self.blocks[id].is_free()) {
            room += self.blocks[id].size;
            next = self.blocks[id].next.some();
        }
        room >= bytes
    }

    fn reserve_segment(&mut self, wanted: &Wanted) -> BlockId {
        let (stream, pool) = (wanted.stream, wanted.pool);
        let page_bytes = if pool.is_small() { SMALL_SEGMENT_BYTES } else { self.settings.large_segment_size.0 };
        let size = self.reserved_space().next_multiple_of(page_bytes);
        let address = self.device.reserve(Space { bytes: size, page_bytes, stream }).0;
        let segment = SegmentIndex::new(self.segments.len());
        self.segments.push(Some(Expandable { address, size, page_bytes }));
        let tie = self.new_number();
        let block = Block { segment, mapped: false, ..Block::whole_segment(address, size, stream, pool, tie) };
        let id = self.blocks.add(block);
        self.pools[pool.index()].add_unmapped(stream, address, id);
        id
    }

    /// The address space of a segment, before it is rounded to pages.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "as in PyTorch; a share of a device is far below 2^53"
    )]
    fn reserved_space(&self) -> u64 {
        let total = self.device.total_bytes();
        let most = total + total / 8;
        match self.settings.expandable_segments_reserve {
            None => most,
            Some(Reserve::Bytes(Bytes(bytes))) => bytes.min(most),
            Some(Reserve::Fraction(fraction)) => ((fraction * total as f64) as u64).min(most),
        }
    }

    /// Maps memory into the first bytes of an unmapped block; `None` = out of memory, and nothing changed.
    fn map_block(&mut self, id: BlockId, bytes: u64) -> Option<()> {
        let Block { address, stream, pool, segment, .. } = self.blocks[id];
        let pages = self.segments[segment.index()]?.covering(bytes);
        if !self.device.map(Address(address), pages) {
            return None;
        }
        let mapped = pages.bytes();
        self.pools[pool.index()].remove_unmapped(id);
        self.split_unmapped(id, mapped);
        self.blocks[id].mapped = true;
        self.merge_neighbours(id);
        self.cache(id);
        self.reserved_bytes += mapped;
        self.stats.reserved_bytes.increase(pool.is_small(), mapped);
        self.stats.num_device_alloc += 1;
        self.count_device_alloc(pool);
        self.observe(Action::SegmentMap, address, mapped, stream);
        Some(())
    }

    /// Splits an unmapped block behind its first bytes.
    fn split_unmapped(&mut self, id: BlockId, bytes: u64) {
        let Block { address, size, stream, pool, tie, .. } = self.blocks[id];
        if bytes >= size {
            return;
        }
        let tie = self.number_of_part(tie);
        let (address, size) = (address + bytes, size - bytes);
        let rest = self.blocks.add(Block { address, size, requested: 0, prev: id, tie, ..self.blocks[id] });
        self.blocks.link(rest);
        self.pools[pool.index()].add_unmapped(stream, address, rest);
        self.blocks[id].size = bytes;
    }

    fn merge_neighbours(&mut self, id: BlockId) {
        let prev = self.blocks[id].prev;
        self.merge(id, prev);
        let next = self.blocks[id].next;
        self.merge(id, next);
    }

    /// Unmaps the whole pages of a free block; the rest stays free (`unmap_block`).
    pub(super) fn release_pages(&mut self, id: BlockId) {
        let Block { address, size, segment, .. } = self.blocks[id];
        let expandable = self.segments[segment.index()];
        if let Some((begin, pages)) = expandable.and_then(|segment| segment.within(address, size)) {
            self.unmap_block(id, begin, pages);
        }
        let block = &self.blocks[id];
        if !block.is_split() && !block.mapped {
            self.drop_segment(id);
        }
    }

    fn unmap_block(&mut self, id: BlockId, begin: u64, pages: Pages) {
        self.uncache(id);
        // PyTorch waits for the stream before it unmaps (`ExpandableSegment::unmapHandles`).
        self.complete_events_of(self.blocks[id].stream);
        self.device.unmap(Address(begin), pages);
        let bytes = pages.bytes();
        self.keep_slivers(id, begin, begin + bytes);
        let block = &mut self.blocks[id];
        (block.address, block.size, block.mapped) = (begin, bytes, false);
        let (stream, pool) = (block.stream, block.pool);
        self.merge_neighbours(id);
        let merged = self.blocks[id].address;
        self.pools[pool.index()].add_unmapped(stream, merged, id);
        self.reserved_bytes -= bytes;
        self.stats.reserved_bytes.decrease(pool.is_small(), bytes);
        self.count_device_free(pool);
        self.stats.num_device_free += 1;
        self.observe(Action::SegmentUnmap, begin, bytes, stream);
    }

    /// Splits off the parts of a free block before and behind a range, as free blocks.
    fn keep_slivers(&mut self, id: BlockId, begin: u64, end: u64) {
        let Block { address, size, prev, .. } = self.blocks[id];
        if begin > address {
            let tie = self.number_of_part(self.blocks[id].tie);
            self.keep(Block { size: begin - address, prev, next: id, tie, requested: 0, ..self.blocks[id] });
        }
        if address + size > end {
            let tie = self.number_of_part(self.blocks[id].tie);
            let size = address + size - end;
            self.keep(Block { address: end, size, prev: id, tie, requested: 0, ..self.blocks[id] });
        }
    }

    fn keep(&mut self, sliver: Block) {
        let id = self.blocks.add(sliver);
        self.blocks.link(id);
        self.cache(id);
    }

    /// Releases the address space of a segment without memory.
    fn drop_segment(&mut self, id: BlockId) {
        let Block { pool, segment, size, .. } = self.blocks[id];
        debug_assert_eq!(Some(size), self.segments[segment.index()].map(|segment| segment.size));
        self.pools[pool.index()].remove_unmapped(id);
        if let Some(space) = self.segments[segment.index()].take() {
            self.device.unreserve(Address(space.address));
        }
        self.blocks.remove(id);
    }
}
