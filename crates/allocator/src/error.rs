//! Errors of the allocator, with the numbers of PyTorch's message.

use thiserror::Error;
use trace::Bytes;

/// A request that was not served.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MallocError {
    /// The device is out of memory, after everything that could be released was released.
    #[error("out of memory: tried to allocate {} with {} free and {} reserved", .0.tried, .0.device_free, .0.reserved)]
    OutOfMemory(Box<OutOfMemory>),
    /// `throw_on_cudamalloc_oom` rejected the request before anything was released.
    #[error("refused: {requested} would exceed per_process_memory_fraction")]
    Rejected {
        /// The requested size.
        requested: Bytes,
    },
    /// The request exceeds every device.
    #[error("a request of {requested} is rejected on any device: the maximum is below 2^60 bytes")]
    TooLarge {
        /// The requested size.
        requested: Bytes,
    },
    /// PyTorch 2.1 to 2.5 with `max_split_size_mb` and `expandable_segments` stop with
    /// `!block->expandable_segment_ INTERNAL ASSERT FAILED`.
    #[error("this version of PyTorch stops with an internal assertion: it would release an expandable segment whole")]
    ExpandableReleased,
    /// A pool with `use_on_oom` is already in use when it should lend: PyTorch stops with a `RuntimeError`, and never
    /// releases the pool's memory, since the pool's use count stays one too high (2.8 to 2.15).
    #[error("beginAllocateToPool: already recording to mempool_id")]
    LendingPoolInUse,
}

/// The numbers of `torch.OutOfMemoryError`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory {
    /// The requested size.
    pub requested: Bytes,
    /// The size as a block; the size of the `oom` entry in the history.
    pub rounded: Bytes,
    /// The size as a segment: "Tried to allocate".
    pub tried: Bytes,
    /// "total capacity".
    pub device_total: Bytes,
    /// "is free".
    pub device_free: Bytes,
    /// "allowed", if a memory fraction is set.
    pub allowed: Option<Bytes>,
    /// Memory allocated by the program.
    pub allocated: Bytes,
    /// Free memory in private pools; the message (2.4 and later) calls it "allocated in private pools".
    pub private_pools_free: Bytes,
    /// Memory reserved by the allocator.
    pub reserved: Bytes,
}
