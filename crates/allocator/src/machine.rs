//! The allocator of one device (`DeviceCachingAllocator` in `c10/cuda/CUDACachingAllocator.cpp`): its state, and how a
//! request is served. The other operations are in the files of this folder, by topic.

mod access;
mod collect;
mod events;
mod expand;
mod free;
mod private;
mod release;
mod restore;
mod search;
mod split;
mod view;

use rustc_hash::FxHashMap;
use trace::{Action, Address, Bytes, Event, Stream};

use self::events::Events;
use self::expand::Expandable;
pub use self::private::{PoolOptions, Route, Thread};
use self::private::{PrivatePool, Underway};
pub use self::view::{BlockView, SegmentView};
use crate::block::{Block, Blocks};
use crate::device::Device;
use crate::error::{MallocError, OutOfMemory};
use crate::free_set::SortKey;
use crate::ids::{BlockId, PoolIndex, PrivatePoolId};
use crate::pool::BlockPool;
use crate::rules::{Rules, Tie};
use crate::settings::Settings;
use crate::size::{self, MAX_REQUEST_BYTES, SMALL_BYTES};
use crate::stats::Stats;

/// Receives every action of the allocator as an event of PyTorch's memory history. `()` ignores the events.
pub trait Observer {
    /// Called after each action.
    #[inline]
    fn observe(&mut self, _: Event) {}
}

impl Observer for () {}

impl Observer for Vec<Event> {
    fn observe(&mut self, event: Event) {
        self.push(event);
    }
}

/// The caching allocator of one device.
#[derive(Clone, Debug)]
pub struct Allocator<D, O = ()> {
    rules: Rules,
    settings: Settings,
    device: D,
    observer: O,
    blocks: Blocks,
    pools: Vec<BlockPool>,
    private_pools: Vec<PrivatePool>,
    underway: Vec<Underway>,
    segments: Vec<Option<Expandable>>,
    events: Events,
    /// The streams that `record_stream` named, for the blocks that have any.
    stream_uses: FxHashMap<BlockId, Vec<Stream>>,
    /// The streams that `record_stream` named during a capture.
    capture_uses: FxHashMap<BlockId, Vec<Stream>>,
    /// Blocks freed during a capture; their events are recorded after the capture.
    deferred: Vec<BlockId>,
    /// The current stream of the calling thread.
    current: Stream,
    /// Memory reserved from the device, in bytes.
    reserved_bytes: u64,
    /// The most that may be reserved, if a memory fraction is set.
    allowed_bytes: Option<u64>,
    next_number: u32,
    stats: Stats,
}

/// A request being served.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    requested: u64,
    /// The size of the block.
    size: u64,
    /// The size to reserve from the device if no cached block fits.
    segment: u64,
    stream: Stream,
    pool: PoolIndex,
    /// Set if expandable segments serve the request.
    expands: bool,
}

impl<D: Device, O: Observer> Allocator<D, O> {
    /// An allocator before its first operation.
    pub fn new(rules: Rules, settings: Settings, device: D, observer: O) -> Allocator<D, O> {
        let mut allocator = Allocator {
            rules,
            settings,
            device,
            observer,
            blocks: Blocks::default(),
            pools: vec![BlockPool::default(), BlockPool::default()],
            private_pools: Vec::new(),
            underway: Vec::new(),
            segments: Vec::new(),
            events: Events::default(),
            stream_uses: FxHashMap::default(),
            capture_uses: FxHashMap::default(),
            deferred: Vec::new(),
            current: Stream(0),
            reserved_bytes: 0,
            allowed_bytes: None,
            next_number: 0,
            stats: Stats::default(),
        };
        let fraction = allocator.settings.per_process_memory_fraction;
        if fraction < 1.0 {
            allocator.allowed_bytes = Some(allocator.share_of_device(fraction));
        }
        allocator
    }

    /// Serves a request of the program's first thread; see [`Allocator::malloc_on`].
    #[inline]
    pub fn malloc(&mut self, requested: Bytes, stream: Stream) -> Result<BlockId, MallocError> {
        self.malloc_on(Thread::default(), requested, stream)
    }

    /// Serves a request. The thread and the stream select a private pool in use, or the shared pool.
    #[inline]
    pub fn malloc_on(&mut self, thread: Thread, requested: Bytes, stream: Stream) -> Result<BlockId, MallocError> {
        let private = self.route(thread, stream);
        self.malloc_in(private, requested, stream)
    }

    /// Serves a request from a private pool, or from the shared pool.
    #[inline]
    pub fn malloc_in(
        &mut self,
        private: Option<PrivatePoolId>,
        requested: Bytes,
        stream: Stream,
    ) -> Result<BlockId, MallocError> {
        if requested.0 >= MAX_REQUEST_BYTES {
            return Err(MallocError::TooLarge { requested });
        }
        self.current = stream;
        if !self.is_capturing() {
            self.process_events();
        }
        let size = size::block_bytes(requested.0, &self.settings);
        let pool = PoolIndex::of(private, size <= SMALL_BYTES);
        let wanted = Wanted {
            requested: requested.0,
            size,
            segment: size::segment_bytes(size, &self.settings),
            stream,
            pool,
            expands: self.expands(pool),
        };
        match self.take_free(&wanted) {
            Some(block) => Ok(self.alloc_found(block, &wanted)),
            None => self.malloc_anew(wanted),
        }
    }

    /// Serves a request for which no cached block fits.
    #[cold]
    fn malloc_anew(&mut self, mut wanted: Wanted) -> Result<BlockId, MallocError> {
        if self.collects_garbage() {
            self.collect_garbage();
        }
        if let Some(block) = self.serve_from_device(&mut wanted)? {
            return Ok(self.alloc_found(block, &wanted));
        }
        let free = self.device.free_bytes();
        self.observe(Action::Oom, free, wanted.size, wanted.stream);
        self.stats.num_ooms += 1;
        Err(MallocError::OutOfMemory(Box::new(self.out_of_memory(&wanted, free))))
    }

    /// Reserves a segment, releasing cached memory step by step until the device has enough.
    fn serve_from_device(&mut self, wanted: &mut Wanted) -> Result<Option<BlockId>, MallocError> {
        if let Some(block) = self.allocate_once(wanted)? {
            return Ok(Some(block));
        }
        if let Some(block) = self.take_from_lending_pool(wanted)? {
            return Ok(Some(block));
        }
        if self.release_oversize(wanted)?
            && let Some(block) = self.allocate_once(wanted)?
        {
            return Ok(Some(block));
        }
        if self.is_capturing() {
            return Ok(None);
        }
        self.release_cached(None);
        self.stats.num_alloc_retries += 1;
        self.allocate_once(wanted)
    }

    /// Tries once to reserve a segment (`alloc_block`).
    fn allocate_once(&mut self, wanted: &Wanted) -> Result<Option<BlockId>, MallocError> {
        let reserved_after = self.reserved_bytes.saturating_add(wanted.segment);
        if self.allowed_bytes.is_some_and(|allowed| reserved_after > allowed) {
            return Ok(None);
        }
        if self.settings.throw_on_cudamalloc_oom
            && reserved_after > self.share_of_device(self.settings.per_process_memory_fraction)
        {
            self.stats.num_oom_rejections += 1;
            return Err(MallocError::Rejected { requested: Bytes(wanted.requested) });
        }
        Ok(if wanted.expands { self.allocate_expandable(wanted) } else { self.allocate_segment(wanted) })
    }

    fn allocate_segment(&mut self, wanted: &Wanted) -> Option<BlockId> {
        let bytes = wanted.segment;
        let address = self.device.allocate(bytes)?.0;
        let is_small = wanted.pool.is_small();
        self.reserved_bytes += bytes;
        self.stats.segment.increase(is_small, 1);
        self.stats.reserved_bytes.increase(is_small, bytes);
        if self.is_oversize(bytes) {
            self.stats.oversize_segments.increase(1);
        }
        self.stats.num_device_alloc += 1;
        self.observe(Action::SegmentAlloc, address, bytes, wanted.stream);
        self.count_device_alloc(wanted.pool);
        let tie = self.new_number();
        let block = Block::whole_segment(address, bytes, wanted.stream, wanted.pool, tie);
        Some(self.blocks.add(block))
    }

    /// The numbers of PyTorch's message.
    fn out_of_memory(&self, wanted: &Wanted, free_bytes: u64) -> OutOfMemory {
        OutOfMemory {
            requested: Bytes(wanted.requested),
            rounded: Bytes(wanted.size),
            tried: Bytes(wanted.segment),
            device_total: Bytes(self.device.total_bytes()),
            device_free: Bytes(free_bytes),
            allowed: self.allowed_bytes.map(Bytes),
            allocated: Bytes(self.stats.allocated_bytes.all.current),
            private_pools_free: Bytes(self.pools[2..].iter().map(BlockPool::free_bytes).sum()),
            reserved: Bytes(self.stats.reserved_bytes.all.current),
        }
    }

    /// `torch.cuda.set_per_process_memory_fraction`.
    pub fn set_memory_fraction(&mut self, fraction: f64) {
        let limits = fraction < 1.0 || self.rules.whole_fraction_limits;
        self.allowed_bytes = limits.then(|| self.share_of_device(fraction));
    }

    /// `torch.cuda.memory._set_allocator_settings`, with the settings that result from the new text.
    pub fn set_settings(&mut self, settings: Settings) {
        self.settings = settings;
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "as in PyTorch; a share of a device is far below 2^53"
    )]
    fn share_of_device(&self, fraction: f64) -> u64 {
        let share = fraction * self.device.total_bytes() as f64;
        if self.rules.fraction_is_rounded { share.round() as u64 } else { share as u64 }
    }

    fn is_oversize(&self, bytes: u64) -> bool {
        self.settings.max_split_size.is_some_and(|max| bytes >= max.0)
    }

    /// The number of a new segment's block.
    fn new_number(&mut self) -> u32 {
        let number = self.next_number;
        self.next_number = number.wrapping_add(1);
        number
    }

    /// The number of a block split off `whole`.
    #[inline]
    fn number_of_part(&mut self, whole: u32) -> u32 {
        if self.rules.tie == Tie::BlockNumber { self.new_number() } else { whole }
    }

    /// The sort key of a free block in its pool.
    #[inline]
    fn sort_key(&self, id: BlockId) -> SortKey {
        let block = &self.blocks[id];
        let tie = if self.rules.tie == Tie::Address { 0 } else { block.tie };
        SortKey::new(block.size, tie, block.address)
    }

    /// Inserts a block into the free set of its pool.
    #[inline]
    fn cache(&mut self, id: BlockId) {
        let key = self.sort_key(id);
        let block = &mut self.blocks[id];
        let pool = &mut self.pools[block.pool.index()];
        block.gc_base = pool.searches;
        pool.free_of_mut(block.stream).insert(key, id);
    }

    /// Removes a block from the free set of its pool.
    #[inline]
    fn uncache(&mut self, id: BlockId) {
        let key = self.sort_key(id);
        let block = &self.blocks[id];
        self.pools[block.pool.index()].free_of_mut(block.stream).remove(key);
    }

    #[inline]
    fn observe(&mut self, action: Action, address: u64, bytes: u64, stream: Stream) {
        self.observer.observe(Event { stream, ..Event::new(action, Address(address), Bytes(bytes)) });
    }
}
