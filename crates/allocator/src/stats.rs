//! The counters of `torch.cuda.memory_stats` (`c10/core/CachingDeviceAllocator.h`, 2.11).

/// A counter with its peak and its sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stat {
    /// The current value.
    pub current: u64,
    /// The largest value.
    pub peak: u64,
    /// The sum of all increases.
    pub allocated: u64,
    /// The sum of all decreases.
    pub freed: u64,
}

impl Stat {
    #[inline]
    pub(crate) fn increase(&mut self, amount: u64) {
        self.current += amount;
        self.peak = self.peak.max(self.current);
        self.allocated += amount;
    }

    #[inline]
    pub(crate) fn decrease(&mut self, amount: u64) {
        self.current -= amount;
        self.freed += amount;
    }
}

/// A counter for all pools, the small pools and the large pools, in PyTorch's order (`StatType`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatArray {
    /// All pools.
    pub all: Stat,
    /// Pools for requests of at most 1 MiB.
    pub small_pool: Stat,
    /// Pools for larger requests.
    pub large_pool: Stat,
}

impl StatArray {
    #[inline]
    fn of(&mut self, is_small: bool) -> &mut Stat {
        if is_small { &mut self.small_pool } else { &mut self.large_pool }
    }

    #[inline]
    pub(crate) fn increase(&mut self, is_small: bool, amount: u64) {
        self.all.increase(amount);
        self.of(is_small).increase(amount);
    }

    #[inline]
    pub(crate) fn decrease(&mut self, is_small: bool, amount: u64) {
        self.all.decrease(amount);
        self.of(is_small).decrease(amount);
    }

    /// Applies a change of either sign. An amount of zero changes nothing.
    #[inline]
    pub(crate) fn change(&mut self, is_small: bool, amount: i64) {
        if amount > 0 {
            self.increase(is_small, amount.unsigned_abs());
        } else if amount < 0 {
            self.decrease(is_small, amount.unsigned_abs());
        }
    }
}

/// All counters, by PyTorch's names. Sizes are in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Allocated blocks.
    pub allocation: StatArray,
    /// Segments, expandable ones not counted.
    pub segment: StatArray,
    /// Blocks allocated or waiting for another stream.
    pub active: StatArray,
    /// Free blocks that have neighbours, expandable ones not counted.
    pub inactive_split: StatArray,
    /// Size of the allocated blocks.
    pub allocated_bytes: StatArray,
    /// Memory reserved from the device.
    pub reserved_bytes: StatArray,
    /// Size of the active blocks.
    pub active_bytes: StatArray,
    /// Size of the inactive split blocks.
    pub inactive_split_bytes: StatArray,
    /// Requested size of the active blocks.
    pub requested_bytes: StatArray,
    /// Blocks in use of at least `max_split_size`.
    pub oversize_allocations: Stat,
    /// Segments of at least `max_split_size`.
    pub oversize_segments: Stat,
    /// Requests retried after everything cached was released.
    pub num_alloc_retries: u64,
    /// Requests that failed.
    pub num_ooms: u64,
    /// Waits for all streams.
    pub num_sync_all_streams: u64,
    /// `cudaMalloc` and mappings.
    pub num_device_alloc: u64,
    /// `cudaFree` and unmappings.
    pub num_device_free: u64,
    /// Requests rejected before anything was tried (`throw_on_cudamalloc_oom`).
    pub num_oom_rejections: u64,
}

impl Stats {
    fn arrays(&mut self) -> [&mut StatArray; 9] {
        [
            &mut self.allocation,
            &mut self.segment,
            &mut self.active,
            &mut self.inactive_split,
            &mut self.allocated_bytes,
            &mut self.reserved_bytes,
            &mut self.active_bytes,
            &mut self.inactive_split_bytes,
            &mut self.requested_bytes,
        ]
    }

    fn for_each(&mut self, change: impl Fn(&mut Stat)) {
        for StatArray { all, small_pool, large_pool } in self.arrays() {
            [all, small_pool, large_pool].into_iter().for_each(&change);
        }
        [&mut self.oversize_allocations, &mut self.oversize_segments].into_iter().for_each(change);
    }

    /// `torch.cuda.reset_peak_memory_stats`.
    pub fn reset_peaks(&mut self) {
        self.for_each(|stat| stat.peak = stat.current);
    }

    /// `torch.cuda.reset_accumulated_memory_stats`.
    pub fn reset_accumulated(&mut self) {
        self.for_each(|stat| (stat.allocated, stat.freed) = (0, 0));
        self.num_alloc_retries = 0;
        self.num_ooms = 0;
        self.num_sync_all_streams = 0;
        self.num_device_alloc = 0;
        self.num_device_free = 0;
        self.num_oom_rejections = 0;
    }
}
