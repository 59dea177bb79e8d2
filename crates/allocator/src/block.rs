//! Blocks, and the arena they live in.

use std::ops::{Index, IndexMut};

use trace::Stream;

use crate::ids::{BlockId, PoolIndex, SegmentIndex};

/// A part of a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub(crate) address: u64,
    pub(crate) size: u64,
    /// What was asked for. Stays when the block is freed, as in PyTorch.
    pub(crate) requested: u64,
    pub(crate) stream: Stream,
    /// How often its pool had been searched when it was put there; the age for garbage collection.
    pub(crate) gc_base: u64,
    /// The neighbours within the segment.
    pub(crate) prev: BlockId,
    pub(crate) next: BlockId,
    /// What decides between free blocks of one size; see [`crate::Tie`].
    pub(crate) tie: u32,
    /// Events of other streams that are outstanding.
    pub(crate) events: u32,
    pub(crate) segment: SegmentIndex,
    pub(crate) pool: PoolIndex,
    pub(crate) allocated: bool,
    /// Whether there is memory behind it; `false` only within expandable segments.
    pub(crate) mapped: bool,
    /// Whether other streams were recorded; they are listed apart, because few blocks have any.
    pub(crate) has_stream_uses: bool,
}

impl Block {
    /// A block that is a whole segment of `cudaMalloc`, free and in no pool yet.
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

    /// Whether nobody uses it.
    pub(crate) fn is_free(&self) -> bool {
        !self.allocated && self.events == 0 && !self.has_stream_uses
    }
}

/// All blocks of an allocator; places of blocks that are gone are used again.
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

    /// All blocks there are, in no order that means anything.
    pub(crate) fn ids(&self) -> impl Iterator<Item = BlockId> {
        let mut vacant = vec![false; self.blocks.len()];
        for id in &self.vacant {
            vacant[id.0 as usize] = true;
        }
        (0_u32..).zip(vacant).filter(|(_, vacant)| !vacant).map(|(index, _)| BlockId(index))
    }

    /// Puts a block that has its links set between the neighbours that these name.
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
