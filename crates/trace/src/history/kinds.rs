//! The kinds of events in a history, determined before the walk.
//!
//! `skip_actions` of torch 2.11 and later leaves kinds out, and so do tools that rewrite traces. A kind without any
//! event was not recorded; its absence says nothing about the program.

use crate::event::{Action, Event};
use crate::ids::EventIndex;

/// The number of events of the kinds that may be missing, and the indices of the rare kinds.
#[derive(Clone, Debug, Default)]
pub(super) struct Kinds {
    pub(super) requests: usize,
    pub(super) completions: usize,
    pub(super) allocs: usize,
    /// Events that reserve or release device memory.
    pub(super) segments: Vec<EventIndex>,
}

impl Kinds {
    pub(super) fn of(events: &[Event]) -> Kinds {
        let mut kinds = Kinds::default();
        for (index, event) in (0..).map(EventIndex).zip(events) {
            match event.action {
                Action::Alloc => kinds.allocs += 1,
                Action::FreeRequested => kinds.requests += 1,
                Action::FreeCompleted => kinds.completions += 1,
                Action::SegmentAlloc | Action::SegmentFree | Action::SegmentMap | Action::SegmentUnmap => {
                    kinds.segments.push(index);
                }
                Action::Snapshot | Action::Oom | Action::Annotate | Action::Unknown(_) => {}
            }
        }
        kinds
    }

    /// Tests for `free_requested` without any `free_completed`: the block is then free at once.
    pub(super) fn frees_complete_at_once(&self) -> bool {
        self.completions == 0
    }
}
