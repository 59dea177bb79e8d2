//! The error that the report explains: a text's statement, the history's record, or both joined.

use report::Location;
use report::explain::{DeviceHistory, HistoryOom};
use trace::text::{Framework, OomKind, StatedBytes, StatedOom};
use trace::{Bytes, EventIndex};

use crate::measure::own::is_own;
use crate::rules::input::Failure;
use crate::rules::known::{Known, Source};

/// Returns the error to explain: the last error of PyTorch's allocator, else the last error of any kind.
pub(super) fn focus_oom(ooms: &[StatedOom]) -> Option<usize> {
    let allocators =
        |oom: &StatedOom| matches!(oom.kind, OomKind::Allocator | OomKind::Rejected | OomKind::AsyncAllocator);
    let on_device = |oom: &StatedOom| oom.framework != Framework::Host;
    let last = |wanted: &dyn Fn(&StatedOom) -> bool| ooms.iter().rposition(wanted);
    last(&allocators).or_else(|| last(&on_device)).or_else(|| ooms.len().checked_sub(1))
}

/// Returns the facts of the failed request. The history is exact; only the text states the device's memory.
pub(super) fn failure(said: Option<&StatedOom>, history: Option<&DeviceHistory>) -> Option<Failure> {
    let shown = history.and_then(|history| history.oom.as_ref());
    match (said, shown) {
        (None, None) => None,
        (Some(said), None) => Some(of_text(said)),
        (None, Some(shown)) => Some(of_history(shown)),
        (Some(said), Some(shown)) => Some(join(of_text(said), of_history(shown))),
    }
}

fn of_text(said: &StatedOom) -> Failure {
    let known = |bytes: Option<StatedBytes>| bytes.map(|bytes| Known::new(bytes, Source::Message));
    Failure {
        kind: said.kind,
        requested: known(said.requested_bytes),
        free: known(said.free_bytes),
        allocated: known(said.allocated()),
        reserved: known(said.reserved()),
        process: known(said.process_bytes),
        allowed: known(said.allowed_bytes),
        others: said.other_processes.clone(),
        location: own_line(said),
        message: said.message.clone(),
        ..Failure::default()
    }
}

/// Returns the innermost line of the user's code in the traceback.
fn own_line(said: &StatedOom) -> Option<Location> {
    let frame = said.traceback.iter().find(|frame| is_own(&frame.file, ""))?;
    Some(Location { file: frame.file.clone(), line: frame.line, column: None })
}

fn of_history(shown: &HistoryOom) -> Failure {
    let exact = |bytes: Bytes, source| Some(Known::new(StatedBytes::exact(bytes.0), source));
    Failure {
        requested: exact(shown.requested_bytes, Source::OomEvent),
        free: exact(shown.free_bytes, Source::OomEvent),
        allocated: exact(shown.counters.allocated_bytes, Source::HistoryAtError),
        reserved: exact(shown.counters.reserved_bytes, Source::HistoryAtError),
        location: shown.location.clone(),
        event: Some(EventIndex(shown.event)),
        ..Failure::default()
    }
}

/// Joins a text's statement and the history's record of one error.
fn join(said: Failure, shown: Failure) -> Failure {
    let Failure { kind, process, allowed, others, message, .. } = said;
    let location = shown.location.or(said.location);
    Failure { kind, process, allowed, others, location, message, ..shown }
}
