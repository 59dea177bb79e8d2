//! The error that the report explains: a text's statement, the history's record, or both joined.

use report::Location;
use report::explain::{DeviceHistory, HistoryOom};
use trace::text::{Framework, OomKind, StatedBytes, StatedOom};
use trace::{Bytes, EventIndex};

use crate::measure::own::is_own;
use crate::rules::input::Failure;

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
    Failure {
        kind: said.kind,
        requested: said.requested_bytes,
        free: said.free_bytes,
        allocated: said.allocated(),
        reserved: said.reserved(),
        process: said.process_bytes,
        allowed: said.allowed_bytes,
        others: said.other_processes.clone(),
        location: own_line(said),
        event: None,
        largest_free: None,
        message: said.message.clone(),
        request_source: "the error's text",
        counters_source: "the error's text",
    }
}

/// Returns the innermost line of the user's code in the traceback.
fn own_line(said: &StatedOom) -> Option<Location> {
    let frame = said.traceback.iter().find(|frame| is_own(&frame.file, ""))?;
    Some(Location { file: frame.file.clone(), line: frame.line, column: None })
}

fn of_history(shown: &HistoryOom) -> Failure {
    let exact = |bytes: Bytes| Some(StatedBytes::exact(bytes.0));
    Failure {
        requested: exact(shown.requested_bytes),
        free: exact(shown.free_bytes),
        allocated: exact(shown.counters.allocated_bytes),
        reserved: exact(shown.counters.reserved_bytes),
        location: shown.location.clone(),
        event: Some(EventIndex(shown.event)),
        request_source: "the history's oom event",
        counters_source: "the history at the error",
        ..Failure::default()
    }
}

/// Joins a text's statement and the history's record of one error.
fn join(said: Failure, shown: Failure) -> Failure {
    let Failure { kind, process, allowed, others, message, .. } = said;
    let location = shown.location.or(said.location);
    Failure { kind, process, allowed, others, location, message, ..shown }
}
