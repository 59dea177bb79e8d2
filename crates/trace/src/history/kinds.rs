//! What kinds of events a history has, told before it is walked.
//!
//! `skip_actions` of torch 2.11 and later leaves kinds out, and tools that rewrite traces do so too. What is missing
//! altogether was not recorded; it is not a fault of the program.

use crate::event::{Action, Event};
use crate::ids::EventIndex;

/// How many events there are of the kinds that may be missing, and where the rare ones are.
#[derive(Clone, Debug, Default)]
pub(super) struct Kinds {
    pub(super) requests: usize,
    pub(super) completions: usize,
    pub(super) allocs: usize,
    /// Events that obtain device memory or give it back.
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

    /// Only the program's letting go was recorded: the block is then free at once.
    pub(super) fn frees_complete_at_once(&self) -> bool {
        self.completions == 0
    }
}
