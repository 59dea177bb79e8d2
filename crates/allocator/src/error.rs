//! Why a request failed, with the numbers of PyTorch's message.

use thiserror::Error;
use trace::Bytes;

/// A request that was not served.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MallocError {
    /// Nothing that could be released made enough room.
    #[error("out of memory: tried to allocate {} with {} free and {} reserved", .0.tried, .0.device_free, .0.reserved)]
    OutOfMemory(Box<OutOfMemory>),
    /// `throw_on_cudamalloc_oom` refused it before anything was released.
    #[error("refused: {requested} would exceed per_process_memory_fraction")]
    Rejected {
        /// What the program asked for.
        requested: Bytes,
    },
    /// No device has so much.
    #[error("a request of {requested} is refused whatever the device: the most is below 2^60 bytes")]
    TooLarge {
        /// What the program asked for.
        requested: Bytes,
    },
    /// PyTorch 2.1 to 2.5 with `max_split_size_mb` and `expandable_segments` stop with
    /// `!block->expandable_segment_ INTERNAL ASSERT FAILED`.
    #[error("this version of PyTorch stops with an internal assertion: it would release an expandable segment whole")]
    ExpandableReleased,
    /// A pool that was to lend (`use_on_oom`) is in use already: PyTorch stops with a `RuntimeError`, and the pool's memory is
    /// never given back, because it counts one user more from then on (2.8 to 2.15).
    #[error("beginAllocateToPool: already recording to mempool_id")]
    LendingPoolInUse,
}

/// The numbers of `torch.OutOfMemoryError`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory {
    /// What the program asked for.
    pub requested: Bytes,
    /// The same as a block; the size of the `oom` entry of the history.
    pub rounded: Bytes,
    /// The same as a segment: "Tried to allocate".
    pub tried: Bytes,
    /// "total capacity".
    pub device_total: Bytes,
    /// "is free".
    pub device_free: Bytes,
    /// "allowed", where a memory fraction limits.
    pub allowed: Option<Bytes>,
    /// What the program holds.
    pub allocated: Bytes,
    /// What is free in private pools; the message (2.4 and later) says "allocated in private pools".
    pub private_pools_free: Bytes,
    /// What the allocator holds.
    pub reserved: Bytes,
}
