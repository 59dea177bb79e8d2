//! Blocks and their arena.

use std::ops::{Index, IndexMut};

use trace::Stream;

use crate::ids::{BlockId, PoolIndex, SegmentIndex};

/// A part of a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub(crate) address: u64,
    pub(crate) size: u64,
    /// The requested size. Stays when the block is freed, as in PyTorch.
    pub(crate) requested: u64,
    pub(crate) stream: Stream,
    /// The number of searches of the pool when the block was cached there; the difference is the age for garbage
    /// collection.
    pub(crate) gc_base: u64,
    /// The neighbours within the segment.
    pub(crate) prev: BlockId,
    pub(crate) next: BlockId,
    /// Orders free blocks of equal size; see [`crate::Tie`].
    pub(crate) tie: u32,
    /// The number of outstanding events of other streams.
    pub(crate) events: u32,
    pub(crate) segment: SegmentIndex,
    pub(crate) pool: PoolIndex,
    pub(crate) allocated: bool,
    /// `false` for address space without memory, which only expandable segments have.
    pub(crate) mapped: bool,
    /// Set if `record_stream` named other streams. The streams are in a map of the allocator, since few blocks have
    /// any.
    pub(crate) has_stream_uses: bool,
}

impl Block {
    /// A block that spans a whole segment of `cudaMalloc`, free and not yet in a pool.
    pub(crate) fn whole_segment(address: u64, size: u64, stream: Stream, pool: PoolIndex, tie: u32) -> Block {
        Block {
            address,
            size,
            requested: 0,
            stream,
            gc_base: 0,
            prev: BlockId::NONE,
            next: BlockId::NONE,
            tie,
            events: 0,
            segment: SegmentIndex::NONE,
            pool,
            allocated: false,
            mapped: true,
            has_stream_uses: false,
        }
    }

    pub(crate) fn is_expandable(&self) -> bool {
        self.segment != SegmentIndex::NONE
    }

    pub(crate) fn is_split(&self) -> bool {
        self.prev.some().is_some() || self.next.some().is_some()
    }

    /// Tests that neither the program nor another stream uses the block.
    pub(crate) fn is_free(&self) -> bool {
        !self.allocated && self.events == 0 && !self.has_stream_uses
    }
}

/// All blocks of an allocator. Vacant entries are reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocks {
    blocks: Vec<Block>,
    vacant: Vec<BlockId>,
}

impl Blocks {
    #[inline]
    pub(crate) fn add(&mut self, block: Block) -> BlockId {
        if let Some(id) = self.vacant.pop() {
            self[id] = block;
            return id;
        }
        let id = BlockId(u32::try_from(self.blocks.len()).unwrap_or(u32::MAX));
        assert!(id != BlockId::NONE, "more than 2^32 - 1 blocks");
        self.blocks.push(block);
        id
    }

    #[inline]
    pub(crate) fn remove(&mut self, id: BlockId) {
        self.vacant.push(id);
    }

    /// All blocks, in no meaningful order.
    pub(crate) fn ids(&self) -> impl Iterator<Item = BlockId> {
        let mut vacant = vec![false; self.blocks.len()];
        for id in &self.vacant {
            vacant[id.0 as usize] = true;
        }
        (0_u32..).zip(vacant).filter(|(_, vacant)| !vacant).map(|(index, _)| BlockId(index))
    }

    /// Links a block, whose own links are set, to its neighbours.
    #[inline]
    pub(crate) fn link(&mut self, id: BlockId) {
        let Block { prev, next, .. } = self[id];
        if let Some(prev) = prev.some() {
            self[prev].next = id;
        }
        if let Some(next) = next.some() {
            self[next].prev = id;
        }
    }
}

impl Index<BlockId> for Blocks {
    type Output = Block;

    #[inline]
    fn index(&self, id: BlockId) -> &Block {
        &self.blocks[id.0 as usize]
    }
}

impl IndexMut<BlockId> for Blocks {
    #[inline]
    fn index_mut(&mut self, id: BlockId) -> &mut Block {
        &mut self.blocks[id.0 as usize]
    }
}
