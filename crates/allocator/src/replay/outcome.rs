//! The result of a replay.

use trace::{Bytes, EventIndex};

use crate::error::MallocError;
use crate::stats::Stats;

/// The result of a program under some settings.
#[derive(Clone, Debug)]
pub struct ReplayOutcome {
    /// The counters at the end, with their peaks.
    pub stats: Stats,
    /// The first request that failed, unless it failed in the recording too. The replay ends there.
    pub failed: Option<FailedAt>,
    /// The requests that failed in the recording and succeeded in the replay, in order.
    pub served: Vec<EventIndex>,
}

/// A failed request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedAt {
    /// The event of the history; `None` for a block older than the history.
    pub event: Option<EventIndex>,
    /// The error.
    pub error: MallocError,
}

impl ReplayOutcome {
    /// The peak of the reserved memory.
    pub fn peak_reserved_bytes(&self) -> Bytes {
        Bytes(self.stats.reserved_bytes.all.peak)
    }

    /// The peak of the allocated memory, in whole blocks, as PyTorch counts.
    pub fn peak_allocated_bytes(&self) -> Bytes {
        Bytes(self.stats.allocated_bytes.all.peak)
    }
}
