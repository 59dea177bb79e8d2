//! What a replay came to.

use trace::{Bytes, EventIndex};

use crate::error::MallocError;
use crate::stats::Stats;

/// What a program came to under some settings.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The counters at the end, with their peaks.
    pub stats: Stats,
    /// The first request that failed now and had not failed when it was recorded. The replay ended there.
    pub failed: Option<FailedAt>,
    /// The requests that had failed when it was recorded and were served now, in order.
    pub served: Vec<EventIndex>,
}

/// A request that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedAt {
    /// The event of the history; `None` for what is older.
    pub event: Option<EventIndex>,
    /// Why.
    pub error: MallocError,
}

impl Outcome {
    /// The most that was reserved.
    pub fn peak_reserved_bytes(&self) -> Bytes {
        Bytes(self.stats.reserved_bytes.all.peak)
    }

    /// The most that was allocated, as PyTorch counts it: whole blocks.
    pub fn peak_allocated_bytes(&self) -> Bytes {
        Bytes(self.stats.allocated_bytes.all.peak)
    }
}
