//! Pools: the free blocks of one size class, shared or private.

use trace::Stream;

use crate::block::BlockId;
use crate::free_set::FreeSet;

/// A pool of one allocator. Even ones serve small requests, odd ones large; the first two are everybody's, and each
/// private pool has two more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PoolIndex(u32);

impl PoolIndex {
    pub(crate) const SMALL: PoolIndex = PoolIndex(0);
    pub(crate) const LARGE: PoolIndex = PoolIndex(1);

    /// The pool of a private pool, or of everybody, for a size class.
    #[inline]
    pub(crate) fn of(private: Option<PrivatePoolId>, is_small: bool) -> PoolIndex {
        PoolIndex(private.map_or(0, |id| 2 * (id.0 + 1)) + u32::from(!is_small))
    }

    #[inline]
    pub(crate) fn is_small(self) -> bool {
        self.0.is_multiple_of(2)
    }

    /// The private pool that it belongs to.
    #[inline]
    pub(crate) fn owner(self) -> Option<PrivatePoolId> {
        (self.0 / 2).checked_sub(1).map(PrivatePoolId)
    }

    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A private pool of one allocator, as a CUDA graph or a `torch.cuda.MemPool` has one. Numbers are not used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PrivatePoolId(u32);

impl PrivatePoolId {
    pub(crate) fn new(index: usize) -> PrivatePoolId {
        PrivatePoolId(u32::try_from(index).ok().filter(|&index| index < u32::MAX / 2).expect("fewer than 2^31 pools"))
    }

    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The cached blocks of a pool.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pool {
    /// By stream, in the order of the streams' pointers. A program has few.
    free: Vec<(Stream, FreeSet)>,
    /// Address space without memory, by stream and address.
    unmapped: Vec<(Stream, u64, BlockId)>,
    /// How often it was searched while garbage collection was on.
    pub(crate) searches: u64,
}

impl Pool {
    #[inline]
    pub(crate) fn free_of(&self, stream: Stream) -> Option<&FreeSet> {
        self.free.iter().find(|(other, _)| *other == stream).map(|(_, set)| set)
    }

    #[inline]
    pub(crate) fn free_of_mut(&mut self, stream: Stream) -> &mut FreeSet {
        let index = match self.free.iter().position(|(other, _)| *other >= stream) {
            Some(index) if self.free[index].0 == stream => index,
            after => {
                let index = after.unwrap_or(self.free.len());
                self.free.insert(index, (stream, FreeSet::default()));
                index
            }
        };
        &mut self.free[index].1
    }

    /// All free blocks: by stream, then in the order in which they are tried.
    pub(crate) fn free_blocks(&self) -> impl Iterator<Item = BlockId> + '_ {
        self.free.iter().flat_map(|(_, set)| set.iter())
    }

    /// The size of all free blocks together, in bytes.
    pub(crate) fn free_bytes(&self) -> u64 {
        self.free.iter().flat_map(|(_, set)| set.sizes()).sum()
    }

    pub(crate) fn add_unmapped(&mut self, stream: Stream, address: u64, block: BlockId) {
        let entry = (stream, address, block);
        let place = self.unmapped.partition_point(|other| *other < entry);
        self.unmapped.insert(place, entry);
    }

    pub(crate) fn remove_unmapped(&mut self, block: BlockId) {
        self.unmapped.retain(|&(_, _, other)| other != block);
    }

    /// Address space of a stream, lowest address first.
    pub(crate) fn unmapped_of(&self, stream: Stream) -> impl Iterator<Item = BlockId> + '_ {
        self.unmapped.iter().filter(move |&&(other, _, _)| other == stream).map(|&(_, _, block)| block)
    }
}
