//! Private pools: of CUDA graphs and of `torch.cuda.MemPool`.
//!
//! # Note [Counted by operation]
//!
//! A pool counts device operations, not pages: memory that one call mapped and that is unmapped in two parts, because a
//! live block lies between them, is counted once and uncounted twice. PyTorch 2.11.0 ends the process when a `MemPool`
//! with expandable segments is deleted like that: `cudaMalloc_count > 0 INTERNAL ASSERT FAILED` in `unmap_block`
//! (`c10/cuda/CUDACachingAllocator.cpp`). The model has no process to end: the count stays at zero, the memory is
//! released, and a pool whose count is zero is not visited again, as in PyTorch.

use trace::Stream;

use super::{Allocator, Observer, Wanted};
use crate::device::Device;
use crate::error::MallocError;
use crate::ids::{BlockId, PoolIndex, PrivatePoolId};
use crate::pool::BlockPool;

/// A thread of the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Thread(pub u32);

/// The requests that a private pool takes while in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// Requests on a stream: the capture of a CUDA graph.
    Capture(Stream),
    /// Requests of a thread: `torch.cuda.use_mem_pool`.
    Thread(Thread),
}

/// The arguments of a `torch.cuda.MemPool`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolOptions {
    /// The pool has an allocator of its own.
    pub custom: bool,
    /// Requests that the shared pool cannot serve may use this pool's cached blocks (2.8 and later).
    pub use_on_oom: bool,
    /// Every request gets a whole segment (2.10 and later).
    pub no_split: bool,
}

#[derive(Clone, Debug)]
pub(super) struct PrivatePool {
    pub(super) options: PoolOptions,
    /// The number of captures and objects that refer to the pool; at zero its memory may be released.
    users: u32,
    /// Segments and mappings reserved, less those released. See Note [Counted by operation].
    device_allocs: u64,
    /// The use count is zero, and memory may remain (`graph_pools_freeable`).
    is_freeable: bool,
}

/// A private pool in use.
#[derive(Clone, Debug)]
pub(super) struct Underway {
    pool: PrivatePoolId,
    route: Route,
    /// The streams that joined the capture.
    joined: Vec<Stream>,
}

impl Underway {
    fn takes(&self, thread: Thread, stream: Stream) -> bool {
        match self.route {
            Route::Capture(capturing) => capturing == stream || self.joined.contains(&stream),
            Route::Thread(using) => using == thread,
        }
    }
}

impl<D: Device, O: Observer> Allocator<D, O> {
    /// Makes a private pool with a use count of one.
    pub fn create_pool(&mut self, options: PoolOptions) -> PrivatePoolId {
        let id = PrivatePoolId::new(self.private_pools.len());
        self.private_pools.push(PrivatePool { options, users: 1, device_allocs: 0, is_freeable: false });
        self.pools.extend([BlockPool::default(), BlockPool::default()]);
        id
    }

    /// Lowers the use count (`releasePool`). The memory is released together with the cache.
    pub fn release_pool(&mut self, id: PrivatePoolId) {
        let pool = &mut self.private_pools[id.index()];
        pool.users -= 1;
        pool.is_freeable |= pool.users == 0;
    }

    /// Deletes a `torch.cuda.MemPool`: stops lending, and releases its free memory at once.
    pub fn delete_pool(&mut self, id: PrivatePoolId) {
        self.private_pools[id.index()].options.use_on_oom = false;
        self.release_pool(id);
        self.release_cached(Some(id));
    }

    /// Directs the requests of `route` to the pool (`beginAllocateToPool`).
    pub fn begin_allocate_to_pool(&mut self, id: PrivatePoolId, route: Route) {
        self.private_pools[id.index()].users += 1;
        self.underway.push(Underway { pool: id, route, joined: Vec::new() });
    }

    /// Adds a stream to the capture that uses the pool. The stream has waited for one that is captured.
    pub fn join_capture(&mut self, id: PrivatePoolId, stream: Stream) {
        if let Some(underway) = self.underway.iter_mut().find(|underway| underway.pool == id) {
            underway.joined.push(stream);
        }
    }

    /// Ends the use of the pool (`endAllocateToPool`). The use count stays until [`Allocator::release_pool`].
    pub fn end_allocate_to_pool(&mut self, id: PrivatePoolId) {
        if let Some(place) = self.underway.iter().position(|underway| underway.pool == id) {
            self.underway.remove(place);
        }
    }

    /// The private pool for a request.
    #[inline]
    pub(super) fn route(&self, thread: Thread, stream: Stream) -> Option<PrivatePoolId> {
        let takes = |underway: &&Underway| underway.takes(thread, stream);
        let mut underway = self.underway.iter();
        let first = self.rules.first_pool_wins;
        let chosen = if first { underway.find(takes) } else { underway.rfind(takes) };
        chosen.map(|underway| underway.pool)
    }

    /// Sets the current stream of the calling thread, where it is not that of the last request. From 2.13 on, the
    /// allocator behaves differently while this stream is captured.
    pub fn set_current_stream(&mut self, stream: Stream) {
        self.current = stream;
    }

    /// Tests that events are not polled and nothing cached is released: while the current stream is captured, and in
    /// older versions while any private pool is in use (`is_capture_context` in 2.13 and later, `captures_underway`
    /// before).
    #[inline]
    pub(super) fn is_capturing(&self) -> bool {
        let is_captured = |underway: &Underway| {
            matches!(underway.route, Route::Capture(_)) && underway.takes(Thread(0), self.current)
        };
        !self.underway.is_empty() && (self.rules.pools_suspend_recovery || self.underway.iter().any(is_captured))
    }

    #[inline]
    pub(super) fn is_custom(&self, pool: PoolIndex) -> bool {
        self.rules.custom_pools_never_expand
            && pool.owner().is_some_and(|owner| self.private_pools[owner.index()].options.custom)
    }

    pub(super) fn count_device_alloc(&mut self, pool: PoolIndex) {
        if let Some(owner) = pool.owner() {
            self.private_pools[owner.index()].device_allocs += 1;
        }
    }

    /// Never goes below zero: see Note [Counted by operation].
    pub(super) fn count_device_free(&mut self, pool: PoolIndex) {
        if let Some(owner) = pool.owner() {
            let pool = &mut self.private_pools[owner.index()];
            pool.device_allocs = pool.device_allocs.saturating_sub(1);
        }
    }

    /// Takes a cached block of a pool that lends to the shared pool when the device is out of memory
    /// (`try_mempool_fallback`). Blocks of expandable segments are not lent.
    pub(super) fn take_from_lending_pool(&mut self, wanted: &mut Wanted) -> Result<Option<BlockId>, MallocError> {
        if wanted.pool.owner().is_some() {
            return Ok(None);
        }
        for id in self.private_pools_where(|pool| pool.options.use_on_oom) {
            if self.underway.iter().any(|underway| underway.pool == id) {
                self.private_pools[id.index()].users += 1;
                return Err(MallocError::LendingPoolInUse);
            }
            let pool = PoolIndex::of(Some(id), wanted.pool.is_small());
            let there = Wanted { pool, expands: false, ..*wanted };
            if let Some(block) = self.take_free(&there) {
                *wanted = there;
                return Ok(Some(block));
            }
        }
        Ok(None)
    }

    /// Releases the memory of private pools with a use count of zero: of one pool, or of all.
    pub(super) fn release_unused_private_pools(&mut self, of: Option<PrivatePoolId>) {
        for id in self.private_pools_where(|pool| pool.is_freeable) {
            if of.is_some_and(|of| of != id) {
                continue;
            }
            if of.is_some() {
                self.wait_for_events(|allocator, block| allocator.blocks[block].pool.owner() == Some(id));
            }
            self.release_pool_blocks(PoolIndex::of(Some(id), true));
            self.release_pool_blocks(PoolIndex::of(Some(id), false));
            let pool = &mut self.private_pools[id.index()];
            pool.is_freeable = pool.device_allocs > 0;
        }
    }

    fn private_pools_where(&self, is_meant: impl Fn(&PrivatePool) -> bool) -> Vec<PrivatePoolId> {
        let meant = self.private_pools.iter().enumerate().filter(|(_, pool)| is_meant(pool));
        meant.map(|(index, _)| PrivatePoolId::new(index)).collect()
    }
}
