//! Numbers of blocks, pools and expandable segments.

/// A block of one allocator, valid from the request that returned it until it is freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(pub(crate) u32);

impl BlockId {
    /// No block. Every block links two neighbours, and `Option<BlockId>` takes twice the space.
    pub(crate) const NONE: BlockId = BlockId(u32::MAX);

    #[cfg(test)]
    pub(crate) fn new(index: u32) -> BlockId {
        BlockId(index)
    }

    /// `None` for [`BlockId::NONE`].
    #[inline]
    pub(crate) fn some(self) -> Option<BlockId> {
        (self != BlockId::NONE).then_some(self)
    }
}

/// An expandable segment of one allocator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentIndex(u32);

impl SegmentIndex {
    /// Marks memory of `cudaMalloc`.
    pub(crate) const NONE: SegmentIndex = SegmentIndex(u32::MAX);

    pub(crate) fn new(index: usize) -> SegmentIndex {
        let segment = SegmentIndex(u32::try_from(index).unwrap_or(u32::MAX));
        assert!(segment != SegmentIndex::NONE, "more than 2^32 - 1 expandable segments");
        segment
    }

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A pool of one allocator. Even numbers serve small requests, odd numbers large requests; pools 0 and 1 are shared,
/// and each private pool has two more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PoolIndex(pub(crate) u32);

impl PoolIndex {
    pub(crate) const SMALL: PoolIndex = PoolIndex(0);
    pub(crate) const LARGE: PoolIndex = PoolIndex(1);

    /// The pool of a private pool, or the shared pool, for a size class.
    #[inline]
    pub(crate) fn of(private: Option<PrivatePoolId>, is_small: bool) -> PoolIndex {
        PoolIndex(private.map_or(0, |id| 2 * (id.0 + 1)) + u32::from(!is_small))
    }

    #[inline]
    pub(crate) fn is_small(self) -> bool {
        self.0.is_multiple_of(2)
    }

    /// The private pool that the pool belongs to.
    #[inline]
    pub(crate) fn owner(self) -> Option<PrivatePoolId> {
        (self.0 / 2).checked_sub(1).map(PrivatePoolId)
    }

    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A private pool of one allocator: of a CUDA graph or a `torch.cuda.MemPool`. Numbers are not reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PrivatePoolId(pub(crate) u32);

impl PrivatePoolId {
    pub(crate) fn new(index: usize) -> PrivatePoolId {
        PrivatePoolId(u32::try_from(index).ok().filter(|&index| index < u32::MAX / 2).expect("fewer than 2^31 pools"))
    }

    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}
