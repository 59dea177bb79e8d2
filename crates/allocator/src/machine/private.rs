//! Private pools: of CUDA graphs and of `torch.cuda.MemPool`.

use trace::Stream;

use super::{Allocator, Observer, Wanted};
use crate::block::BlockId;
use crate::device::Device;
use crate::pool::{Pool, PoolIndex, PrivatePoolId};

/// A thread of the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Thread(pub u32);

/// Which requests a private pool takes while it is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// Those on a stream: the capture of a CUDA graph.
    Capture(Stream),
    /// Those of a thread: `torch.cuda.use_mem_pool`.
    Thread(Thread),
}

/// What a `torch.cuda.MemPool` was made with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolOptions {
    /// It has an allocator of its own.
    pub custom: bool,
    /// Requests that the shared pool cannot serve may use what is cached here (2.8 and later).
    pub use_on_oom: bool,
    /// Every request gets a whole segment (2.10 and later).
    pub no_split: bool,
}

#[derive(Clone, Debug)]
pub(super) struct PrivatePool {
    pub(super) options: PoolOptions,
    /// Captures and objects that refer to it; at zero its memory may be released.
    users: u32,
    /// Segments and mappings it holds.
    device_allocs: u64,
}

/// A private pool in use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Underway {
    pool: PrivatePoolId,
    route: Route,
}

impl Route {
    fn takes(self, thread: Thread, stream: Stream) -> bool {
        match self {
            Route::Capture(capturing) => capturing == stream,
            Route::Thread(using) => using == thread,
        }
    }
}

impl<D: Device, O: Observer> Allocator<D, O> {
    /// Makes a private pool that one object refers to.
    pub fn create_pool(&mut self, options: PoolOptions) -> PrivatePoolId {
        let id = PrivatePoolId::new(self.private_pools.len());
        self.private_pools.push(PrivatePool { options, users: 1, device_allocs: 0 });
        self.pools.extend([Pool::default(), Pool::default()]);
        id
    }

    /// One object fewer refers to it (`releasePool`). Its memory goes when everything cached is released.
    pub fn release_pool(&mut self, id: PrivatePoolId) {
        self.private_pools[id.index()].users -= 1;
    }

    /// From here on requests that the route takes go to the pool (`beginAllocateToPool`).
    pub fn begin_allocate_to_pool(&mut self, id: PrivatePoolId, route: Route) {
        self.private_pools[id.index()].users += 1;
        self.underway.push(Underway { pool: id, route });
    }

    /// The end of that (`endAllocateToPool`). The pool is still referred to until [`Allocator::release_pool`].
    pub fn end_allocate_to_pool(&mut self, id: PrivatePoolId) {
        if let Some(place) = self.underway.iter().position(|underway| underway.pool == id) {
            self.underway.remove(place);
        }
    }

    /// `emptyCache` of one pool, as the end of a `torch.cuda.MemPool` does.
    pub fn empty_pool_cache(&mut self, id: PrivatePoolId) {
        self.release_cached(Some(id));
    }

    /// The private pool that takes a request.
    #[inline]
    pub(super) fn route(&self, thread: Thread, stream: Stream) -> Option<PrivatePoolId> {
        let takes = |underway: &&Underway| underway.route.takes(thread, stream);
        let mut underway = self.underway.iter();
        let taker = if self.rules.first_pool_wins { underway.find(takes) } else { underway.rfind(takes) };
        taker.map(|underway| underway.pool)
    }

    /// Whether events are not asked for and nothing cached is released: during a capture, and in older versions
    /// while any private pool is in use.
    #[inline]
    pub(super) fn is_capturing(&self) -> bool {
        let is_capture = |underway: &Underway| matches!(underway.route, Route::Capture(_));
        !self.underway.is_empty() && (self.rules.pools_suspend_recovery || self.underway.iter().any(is_capture))
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

    pub(super) fn count_device_free(&mut self, pool: PoolIndex) {
        if let Some(owner) = pool.owner() {
            self.private_pools[owner.index()].device_allocs -= 1;
        }
    }

    /// A cached block of a pool that lends to the shared one when the device has no more.
    pub(super) fn take_from_lenient_pool(&mut self, wanted: &mut Wanted) -> Option<BlockId> {
        if wanted.pool.owner().is_some() {
            return None;
        }
        for id in self.private_pools_where(|pool| pool.options.use_on_oom && pool.users > 0) {
            let there = Wanted { pool: PoolIndex::of(Some(id), wanted.pool.is_small()), ..*wanted };
            if let Some(block) = self.take_free(&there) {
                *wanted = there;
                return Some(block);
            }
        }
        None
    }

    /// Releases what private pools hold that nobody refers to: one of them, or all.
    pub(super) fn release_unused_private_pools(&mut self, of: Option<PrivatePoolId>) {
        for id in self.private_pools_where(|pool| pool.users == 0 && pool.device_allocs > 0) {
            if of.is_some_and(|of| of != id) {
                continue;
            }
            if of.is_some() {
                self.wait_for_events(|allocator, block| allocator.blocks[block].pool.owner() == Some(id));
            }
            self.release_pool_blocks(PoolIndex::of(Some(id), true));
            self.release_pool_blocks(PoolIndex::of(Some(id), false));
        }
    }

    fn private_pools_where(&self, is_meant: impl Fn(&PrivatePool) -> bool) -> Vec<PrivatePoolId> {
        let meant = self.private_pools.iter().enumerate().filter(|(_, pool)| is_meant(pool));
        meant.map(|(index, _)| PrivatePoolId::new(index)).collect()
    }
}
