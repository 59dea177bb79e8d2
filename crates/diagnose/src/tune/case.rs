//! The input of `tune`, and the observer of its progress.

use thiserror::Error;
use trace::{Bytes, EventIndex, Release};

use crate::explain::ExplainInput;
use crate::judge::surroundings::Surroundings;

/// Recorded programs, and the device to tune them for.
#[derive(Clone, Debug, Default)]
pub struct TuneCase {
    /// The named inputs, in the user's order.
    pub inputs: Vec<ExplainInput>,
    /// oomph's own version.
    pub version: String,
    /// The reader's working directory; paths are shown relative to it.
    pub folder: String,
    /// The device; `None` selects the recording's device if known, else a device that is never full.
    pub device: Option<Gpu>,
    /// The user's PyTorch version, for a snapshot that fits several versions.
    pub torch: Option<Release>,
    /// The positions of trial calls of `empty_cache`.
    pub empty_cache_at: Vec<EmptyCacheAt>,
    /// What the launcher knows of the surroundings of a recording that it made.
    pub surroundings: Surroundings,
}

/// A device with its profile's figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gpu {
    /// The GPU's name.
    pub name: String,
    /// The total memory.
    pub total: Bytes,
    /// The memory of the CUDA context.
    pub context: Bytes,
}

/// A position for a call of `empty_cache`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmptyCacheAt {
    /// Right after this event of every history.
    Event(EventIndex),
    /// After each step.
    Step,
}

impl EmptyCacheAt {
    /// Returns the event; `None` for steps.
    pub(crate) fn event(self) -> Option<EventIndex> {
        match self {
            EmptyCacheAt::Event(event) => Some(event),
            EmptyCacheAt::Step => None,
        }
    }
}

/// The observer of a search's progress, who may end the search. Several threads call the observer.
pub trait Watch: Sync {
    /// Reports that `done` of `planned` settings are replayed, with `least` reserved bytes so far.
    fn progress(&self, done: usize, planned: usize, least: Option<Bytes>);
    /// Returns true to end the search with the results so far.
    fn is_over(&self) -> bool;
}

/// No observer.
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
    /// An input without a memory history.
    #[error("`{0}` has no memory history, expected the events of at least one device")]
    NoHistory(String),
    /// The replay failed.
    #[error("`{path}`, device {device}: {problem}")]
    NotReplayable {
        /// The file.
        path: String,
        /// The device.
        device: u32,
        /// The cause of the failure.
        problem: String,
    },
    /// A position for `empty_cache` outside every history.
    #[error("--empty-cache-at {event}: expected the number of an event, and the histories have {events} at most")]
    NoSuchEvent {
        /// The requested event.
        event: u32,
        /// The largest number of events.
        events: u64,
    },
    /// No history shows the end of a step.
    #[error("--empty-cache-at step: no history shows where a step ends")]
    NoSteps,
    /// The search was interrupted before the first replay.
    #[error("interrupted before the first replay was done")]
    Interrupted,
}
