//! How little memory the recorded buffers could do with: a lower bound and a packing.

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
use self::search::{Budget, search};
use self::timeline::Timeline;

/// Every size is rounded up to a multiple of this, as PyTorch's allocator does.
pub const GRANULE: Bytes = Bytes(512);

/// One buffer: so many bytes, alive from `start` to just before `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// The first moment at which it is alive, in any numbering that keeps the order.
    pub start: u32,
    /// The first moment at which it is no longer alive; [`Buffer::TO_THE_END`] where that never comes.
    pub end: u32,
    /// What was asked for.
    pub size: Bytes,
}

impl Buffer {
    /// The `end` of what is never freed.
    pub const TO_THE_END: u32 = u32::MAX;

    /// The size in granules: what was asked for, rounded up, and at least one.
    fn granules(&self) -> u64 {
        self.size.0.div_ceil(GRANULE.0).max(1)
    }
}

/// When a buffer of a history ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// When the program let go of it: no allocator can do with less.
    Requested,
    /// When its block went back to its pool: an allocator that waits for streams as PyTorch's does.
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

/// The most bytes alive at once, and when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peak {
    /// How many, each size rounded up to [`GRANULE`].
    pub bytes: Bytes,
    /// The first moment at which so many are alive.
    pub at: u32,
}

/// A place for each buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct Packing {
    /// The least that any allocator needs.
    pub bound: Peak,
    /// Where the highest buffer ends: what this packing needs.
    pub peak: Bytes,
    /// The offset of each buffer, in bytes, a multiple of [`GRANULE`].
    pub offsets: Vec<u64>,
    /// What found it.
    pub method: Method,
}

impl Packing {
    /// Whether the packing needs no more than the bound: then no allocator can do better.
    pub fn is_optimal(&self) -> bool {
        self.peak == self.bound.bytes
    }

    /// By what part of the bound the packing exceeds it: 0.004 is 0.4 %.
    pub fn gap(&self) -> f64 {
        if self.bound.bytes == Bytes::ZERO {
            return 0.0;
        }
        (self.peak - self.bound.bytes).0 as f64 / self.bound.bytes.0 as f64
    }
}

/// How a packing was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Best fit in the order of time, as an allocator does that knows nothing of the future.
    BestFit,
    /// First fit in an order.
    FirstFit(Order),
    /// First fit in an order that was improved step by step, from this one.
    Improved(Order),
    /// First fit for the large buffers, best fit in the order of time for the small ones on top of them.
    Partial,
}

/// The sizes add up to more than an address can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the sizes of the buffers add up to {found} bytes, expected at most {} (2^62)", 1u64 << 62)]
pub struct TooLarge {
    /// The sum.
    pub found: u128,
}

/// The most bytes alive at once: no allocator needs less.
pub fn peak_alive_bytes(buffers: &[Buffer]) -> Peak {
    Timeline::of(buffers).peak(buffers)
}

/// Finds a place for each buffer such that no two that are alive at once overlap.
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
    Ok(Packing { bound: problem.peak, peak: Bytes(solution.peak * GRANULE.0), offsets, method: solution.method })
}
