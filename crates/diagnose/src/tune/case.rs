//! What `tune` is about, and who watches it.

use thiserror::Error;
use trace::{Bytes, EventIndex, Release};

use crate::explain::ExplainInput;

/// Recorded programs, and the device to tune them for.
#[derive(Clone, Debug, Default)]
pub struct TuneCase {
    /// What was named, in that order.
    pub inputs: Vec<ExplainInput>,
    /// oomph's own version.
    pub version: String,
    /// The folder that the reader stands in; paths are shown relative to it.
    pub folder: String,
    /// The device; `None` = that of the recording where it is known, else one that is never full.
    pub device: Option<Gpu>,
    /// The version of PyTorch, where a snapshot leaves several and somebody knows.
    pub torch: Option<Release>,
    /// Where calls of `empty_cache` are to be tried.
    pub empty_cache_at: Vec<EmptyCacheAt>,
}

/// A device, as its profile has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gpu {
    /// Its name.
    pub name: String,
    /// All of its memory.
    pub total: Bytes,
    /// What the CUDA context takes of it.
    pub context: Bytes,
}

/// A place for a call of `empty_cache`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmptyCacheAt {
    /// Right after this event of every history.
    Event(EventIndex),
    /// After each step.
    Step,
}

impl EmptyCacheAt {
    /// The event, where it is one.
    pub(crate) fn event(self) -> Option<EventIndex> {
        match self {
            EmptyCacheAt::Event(event) => Some(event),
            EmptyCacheAt::Step => None,
        }
    }
}

/// Hears how far the search is, and may end it. It is asked by several threads.
pub trait Watch: Sync {
    /// So many of so many settings are replayed; the least that was reserved so far.
    fn progress(&self, done: usize, planned: usize, least: Option<Bytes>);
    /// Whether to end with what was found so far.
    fn is_over(&self) -> bool;
}

/// Nobody watches.
impl Watch for () {
    fn progress(&self, _: usize, _: usize, _: Option<Bytes>) {}

    fn is_over(&self) -> bool {
        false
    }
}

/// Inputs that cannot be tuned.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TuneError {
    /// A log or a table.
    #[error("`{0}` is a text, expected a memory snapshot: only a history of requests can be replayed")]
    Text(String),
    /// There is nothing to replay.
    #[error("`{0}` has no memory history, expected the events of at least one device")]
    NoHistory(String),
    /// The replay cannot be made.
    #[error("`{path}`, device {device}: {problem}")]
    NotReplayable {
        /// The file.
        path: String,
        /// The device.
        device: u32,
        /// What was found.
        problem: String,
    },
    /// A place for `empty_cache` that no history has.
    #[error("--empty-cache-at {event}: expected the number of an event, and the histories have {events} at most")]
    NoSuchEvent {
        /// What was asked for.
        event: u32,
        /// How many there are.
        events: u64,
    },
    /// No step to empty the cache after.
    #[error("--empty-cache-at step: no history shows where a step ends")]
    NoSteps,
    /// It was ended before anything was replayed.
    #[error("interrupted before the first replay was done")]
    Interrupted,
}
