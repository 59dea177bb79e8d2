//! The end of a program, and the moment of an explanation.

use trace::{Action, Moment};

use crate::measure::view::View;

/// A program is ending if at most 1/50 of all allocations follow the error.
const ENDING: usize = 50;

/// Checks that few allocations follow the last error.
pub(super) fn has_ended(view: &View) -> bool {
    let Some(error) = view.trace.last_oom() else {
        return false;
    };
    let allocs = |events: &[trace::Event]| events.iter().filter(|event| event.action == Action::Alloc).count();
    let after = view.trace.events.get(error.0 as usize..).map_or(0, allocs);
    after * ENDING <= allocs(view.trace.events).max(ENDING)
}

/// Returns the moment of interest: the error that ended the program, else the peak.
pub(super) fn find_moment(view: &View) -> Option<Moment> {
    let error = view.trace.last_oom().filter(|_| has_ended(view)).map(Moment::after);
    error.or_else(|| view.trace.history.peaks().allocated.map(|peak| peak.at))
}
