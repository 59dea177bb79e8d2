//! The least memory in which the recorded buffers fit: a bound for every allocator, and a packing close to the bound.
//!
//! # Note [The bound]
//! [`peak_alive_bytes`] adds up the buffers that are alive at once. With the lifetimes of [`Until::Requested`] the sum
//! is a lower bound:
//!
//! - At that moment the program owns all these buffers and may use any of them, so their blocks are disjoint. A block
//!   for n > 0 bytes is at least n rounded up to 512 bytes long in PyTorch's allocator (`round_size` in
//!   `c10/cuda/CUDACachingAllocator.cpp`, 2.0 to 2.15; `roundup_power2_divisions` only makes it longer). Hence, at that
//!   moment, bound ≤ `allocated_bytes` ≤ `active_bytes` ≤ `reserved_bytes`, so also bound ≤ peak reserved: under all
//!   settings, with or without expandable segments, and for any pools.
//! - Nothing is assumed about the addresses of blocks. An allocator that moves buffers needs as much, and streams do
//!   not matter: two buffers alive at once take their space twice on any streams.
//! - The bound holds for this program: these requests in this order. Offloading, recomputing or smaller requests change
//!   the program. An allocator that does not round to 512 bytes could save up to 511 bytes for each buffer alive.
//! - Memory outside the trace (the context, libraries that allocate by themselves) is added on top.
//!
//! With [`Until::Completed`] the sum bounds allocators that, as PyTorch's does, reuse a block only after the streams
//! that use the block are done. The two differ only for programs that call `record_stream`.
//!
//! If the bound exceeds the device's memory, only smaller or fewer tensors help: no setting and no other allocator
//! does.
//!
//! # Note [The packing]
//! [`pack`] computes how much of the memory above the bound can be saved. Every buffer gets a fixed offset such that
//! buffers alive together do not overlap; the peak of the packing is the need of an allocator that knows the future and
//! has one contiguous range. Finding a best packing is NP-hard (the problem is dynamic storage allocation), and the
//! best may lie above the bound; a packing whose peak equals the bound is proven best. The packing ignores streams: it
//! reuses memory across streams at the moment of the free, which a real allocator can only do after synchronizing. For
//! a program of several streams the bound stands, and the packing is the best case.
//!
//! The algorithm is first fit over several orders (Notes `[Orders suffice]` and `[Search]` in `search.rs`, `[Time
//! tree]` in `tree.rs`, `[Epochs]` in `problem.rs`). Sizes are rounded up here; offsets are multiples of 512. The
//! driver allocates multiples of 2 MiB, so a real arena is the peak rounded up to 2 MiB.
//!
//! Measured on one core of a busy machine with `cargo run --release -p allocator --example pack -- FILES...` and
//! `--generate N`, `--random N`; 'best fit' is the gap of best fit in the order of time:
//!
//! | what | buffers | bound | gap | CPU seconds | best fit |
//! |---|---|---|---|---|---|
//! | real: `expandable_small` | 537 | 2.10 GiB | 0 | < 0.01 | 2.377 % |
//! | real: `segments_freed` | 2,917 | 4.05 GiB | 0 | < 0.01 | 9.447 % |
//! | real: `torch21_bert_offload` | 1,893 | 2.24 GiB | 0 | < 0.01 | 3.529 % |
//! | real: `transformer_forward_mixed` | 3,027 | 26.32 GiB | 0 | < 0.01 | 0.343 % |
//! | real: `transformer_full_step` | 7,095 | 51.04 GiB | 0 | 0.02 | 1.337 % |
//! | real: `windows_user_metadata` | 1,950 | 12.97 GiB | 0.000004 % | 0.05 | 0.248 % |
//! | phantom: GPT-2 small, 5 steps | 7,482 | 4.43 GiB | 0 | 0.01 | 5.299 % |
//! | phantom: the same, 20 steps of 32 to 1,023 tokens | 27,917 | 7.07 GiB | 0 | 0.04 | 7.124 % |
//! | phantom: the same, 300 steps | 415,755 | 7.17 GiB | 0 | 0.9 | 7.029 % |
//! | phantom: ResNet-50, 5 steps | 3,984 | 5.38 GiB | 0 | < 0.01 | 1.102 % |
//! | phantom: 1.7 M events of a small transformer | 601,011 | 355.83 MiB | 0 | 1.2 | 0.161 % |
//! | `--generate 1000000` | 1,001,039 | 15.39 GiB | 0 | 5.1 | 0.252 % |
//! | `--generate 3000000` | 3,000,001 | 15.39 GiB | 0.025 % | 10.9 | 0.252 % |
//! | `--random 20000` | 20,000 | 64.96 GiB | 1.957 % | 1.1 | 11.518 % |
//! | `--random 1000000` | 1,000,000 | 1.07 TiB | 2.616 % | 4.5 | 9.719 % |
//!
//! The last two have no structure (lifetimes and sizes of every magnitude); their bounds may be out of reach. For the
//! GPT-2 run with varying lengths the real allocator reserved 11.73 GiB by default, against a bound of 7.07 GiB.
//! Memory: 642 MB at 3 million buffers (`VmHWM`).

mod busy;
mod order;
mod problem;
mod search;
mod sweep;
mod timeline;
mod tree;

use thiserror::Error;
use trace::{Bytes, History, Moment};

pub use self::order::Order;
use self::problem::Problem;
use self::search::{Budget, Solution, search};
use self::timeline::Timeline;

/// The unit of sizes: every size is rounded up to a multiple, as in PyTorch's allocator.
pub const GRANULE: Bytes = Bytes(512);

/// A buffer of a size and a lifetime, from `start` to just before `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// The first moment of the lifetime, in any numbering that keeps the order.
    pub start: u32,
    /// The first moment after the lifetime; [`Buffer::TO_THE_END`] for a buffer that is never freed.
    pub end: u32,
    /// The requested size.
    pub size: Bytes,
}

impl Buffer {
    /// The `end` of a buffer that is never freed.
    pub const TO_THE_END: u32 = u32::MAX;

    /// The size in granules: the requested size, rounded up, at least one.
    fn granules(&self) -> u64 {
        self.size.0.div_ceil(GRANULE.0).max(1)
    }
}

/// The event that ends the lifetime of a buffer (Note `[The bound]`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// `free_requested`: the end for any allocator.
    Requested,
    /// `free_completed`: the end for an allocator that waits for streams as PyTorch's does.
    Completed,
}

/// The buffers of a history, in the order of its lifetimes.
pub fn buffers(history: &History, until: Until) -> Vec<Buffer> {
    let number = |moment: Moment| moment.since(Moment::BEFORE);
    let ends = |life: &trace::Lifetime| match until {
        Until::Requested => number(life.free_requested),
        Until::Completed => number(life.free_completed),
    };
    let lives = history.lifetimes().iter();
    lives.map(|life| Buffer { start: number(life.begun), end: ends(life), size: life.requested }).collect()
}

/// The most bytes alive at once, and the moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AlivePeak {
    /// The sum, each size rounded up to [`GRANULE`].
    pub bytes: Bytes,
    /// The first moment of the peak.
    pub at: u32,
}

/// An offset for each buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct Packing {
    /// The lower bound for any allocator.
    pub bound: AlivePeak,
    /// The end of the highest buffer: the need of this packing.
    pub peak: Bytes,
    /// The peak of best fit in the order of time: one pool, no rounding beyond 512 bytes, no knowledge of the future.
    pub best_fit: Bytes,
    /// The offset of each buffer, in bytes, a multiple of [`GRANULE`].
    pub offsets: Vec<u64>,
    /// The method that found the packing.
    pub method: Method,
}

impl Packing {
    /// Tests that the packing equals the bound: no allocator can do better.
    pub fn is_optimal(&self) -> bool {
        self.peak == self.bound.bytes
    }

    /// The excess over the bound, as a share of the bound: 0.004 is 0.4 %.
    pub fn gap(&self) -> f64 {
        if self.bound.bytes == Bytes::ZERO {
            return 0.0;
        }
        (self.peak - self.bound.bytes).0 as f64 / self.bound.bytes.0 as f64
    }
}

/// A method of packing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Best fit in the order of time, as in an allocator that does not know the future.
    BestFit,
    /// First fit in an order.
    FirstFit(Order),
    /// First fit in an order that began as this one and was improved step by step.
    Improved(Order),
    /// First fit for the large buffers, then best fit in the order of time for the small buffers above them.
    Partial,
}

/// The sizes add up to more than an address can express.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the sizes of the buffers add up to {found} bytes, expected at most 2^62")]
pub struct TooLarge {
    /// The sum.
    pub found: u128,
}

/// The most bytes alive at once: no allocator needs less (Note `[The bound]`). The time is that of sorting the buffers.
pub fn peak_alive_bytes(buffers: &[Buffer]) -> AlivePeak {
    Timeline::of(buffers).peak(buffers)
}

/// Finds an offset for each buffer such that buffers alive together do not overlap (Note `[The packing]`). The result
/// depends on the buffers alone. Buffers that are never alive lie at 0.
pub fn pack(buffers: &[Buffer]) -> Result<Packing, TooLarge> {
    let found = buffers.iter().map(|buffer| u128::from(buffer.granules()) * u128::from(GRANULE.0)).sum();
    if found > 1 << 62 {
        return Err(TooLarge { found });
    }
    let problem = Problem::new(buffers);
    let solution = search(&problem, Budget::USUAL);
    let mut offsets = vec![0; buffers.len()];
    for (&name, offset) in problem.named.iter().zip(&solution.offsets) {
        offsets[name as usize] = offset * GRANULE.0;
    }
    let Solution { peak, best_fit, method, .. } = solution;
    let bytes = |granules: u64| Bytes(granules * GRANULE.0);
    Ok(Packing { bound: problem.peak, peak: bytes(peak), best_fit: bytes(best_fit), offsets, method })
}
