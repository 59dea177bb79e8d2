//! Pools: the free blocks of one size class, shared or private.

use trace::Stream;

use crate::free_set::FreeSet;
use crate::ids::BlockId;

/// The cached blocks of a pool.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockPool {
    /// The free blocks of each stream, in the order of the streams' pointers. A program has few streams.
    free_sets: Vec<(Stream, FreeSet)>,
    /// Address space without memory, by stream and address.
    unmapped: Vec<(Stream, u64, BlockId)>,
    /// The number of searches while garbage collection was on.
    pub(crate) searches: u64,
}

impl BlockPool {
    #[inline]
    pub(crate) fn free_of(&self, stream: Stream) -> Option<&FreeSet> {
        self.free_sets.iter().find(|(other, _)| *other == stream).map(|(_, set)| set)
    }

    #[inline]
    pub(crate) fn free_of_mut(&mut self, stream: Stream) -> &mut FreeSet {
        let index = match self.free_sets.iter().position(|(other, _)| *other >= stream) {
            Some(index) if self.free_sets[index].0 == stream => index,
            after => {
                let index = after.unwrap_or(self.free_sets.len());
                self.free_sets.insert(index, (stream, FreeSet::default()));
                index
            }
        };
        &mut self.free_sets[index].1
    }

    /// All free blocks: by stream, then in the order of the search.
    pub(crate) fn free_blocks(&self) -> impl Iterator<Item = BlockId> + '_ {
        self.free_sets.iter().flat_map(|(_, set)| set.iter())
    }

    /// The size of all free blocks together, in bytes.
    pub(crate) fn free_bytes(&self) -> u64 {
        self.free_sets.iter().flat_map(|(_, set)| set.sizes()).sum()
    }

    pub(crate) fn add_unmapped(&mut self, stream: Stream, address: u64, block: BlockId) {
        let entry = (stream, address, block);
        let place = self.unmapped.partition_point(|other| *other < entry);
        self.unmapped.insert(place, entry);
    }

    pub(crate) fn remove_unmapped(&mut self, block: BlockId) {
        self.unmapped.retain(|&(_, _, other)| other != block);
    }

    /// The unmapped address space of a stream, lowest address first.
    pub(crate) fn unmapped_of(&self, stream: Stream) -> impl Iterator<Item = BlockId> + '_ {
        self.unmapped.iter().filter(move |&&(other, _, _)| other == stream).map(|&(_, _, block)| block)
    }
}
