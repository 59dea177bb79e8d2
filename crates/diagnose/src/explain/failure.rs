//! The error that the report explains: a text's statement, the history's record, or both joined.

use std::collections::BTreeSet;

use report::Location;
use report::explain::{DeviceHistory, HistoryOom};
use trace::text::{Framework, OomKind, StatedBytes, StatedOom};
use trace::{Bytes, EventIndex};

use super::own_row::name_own_row;
use crate::measure::own::is_own;
use crate::rules::facts::input::Failure;
use crate::rules::facts::known::{Known, Source};

/// Returns the error to explain: the last error of an allocator, else the last error of any kind. Of several ranks it is the error of the rank
/// that the launcher names, else the first: the others follow from it.
pub(super) fn focus_oom(ooms: &[StatedOom], root_rank: Option<u32>) -> Option<usize> {
    let allocators = |oom: &StatedOom| {
        matches!(oom.kind, OomKind::Allocator | OomKind::Rejected | OomKind::AsyncAllocator | OomKind::Foreign)
    };
    let on_device = |oom: &StatedOom| oom.framework != Framework::Host;
    let last = |wanted: &dyn Fn(&StatedOom) -> bool| ooms.iter().rposition(wanted);
    let root = root_rank.and_then(|rank| last(&|oom| allocators(oom) && oom.rank == Some(rank)));
    root.or_else(|| first_of_ranks(ooms, &allocators))
        .or_else(|| last(&allocators))
        .or_else(|| last(&on_device))
        // A process that ended is what the reader sees; another error says why.
        .or_else(|| last(&|oom| oom.kind != OomKind::Ended))
        .or_else(|| ooms.len().checked_sub(1))
}

/// Returns the first error, if several ranks have one.
fn first_of_ranks(ooms: &[StatedOom], wanted: &dyn Fn(&StatedOom) -> bool) -> Option<usize> {
    let ranks: BTreeSet<u32> = ooms.iter().filter(|oom| wanted(oom)).filter_map(|oom| oom.rank).collect();
    if ranks.len() < 2 {
        return None;
    }
    ooms.iter().position(|oom| wanted(oom) && oom.rank.is_some())
}

/// Returns the facts of the failed request. The history is exact; only the text states the device's memory.
pub(super) fn failure(said: Option<&StatedOom>, history: Option<&DeviceHistory>) -> Option<Failure> {
    let shown = history.and_then(|history| history.oom.as_ref());
    match (said, shown) {
        (None, None) => None,
        (Some(said), None) => Some(name_own_row(of_text(said), said.total_bytes)),
        (None, Some(shown)) => Some(of_history(shown)),
        (Some(said), Some(shown)) => Some(join(name_own_row(of_text(said), said.total_bytes), of_history(shown))),
    }
}

fn of_text(said: &StatedOom) -> Failure {
    let known = |bytes: Option<StatedBytes>| bytes.map(|bytes| Known::new(bytes, Source::Message));
    Failure {
        kind: said.kind,
        framework: said.framework,
        other_allocations: said.other_allocations_bytes.map(|bytes| bytes.nearest).unwrap_or_default(),
        in_pools: said.private_pools_bytes.map(|bytes| bytes.nearest).unwrap_or_default(),
        requested: known(said.requested_bytes),
        free: known(said.free_bytes),
        allocated: known(said.allocated()),
        reserved: known(said.reserved()),
        process: known(said.process_bytes),
        allowed: known(said.allowed_bytes),
        others: said.other_processes.clone(),
        segment_reserve: said.segment_reserve_bytes,
        clues: said.clues.clone(),
        series: said.series,
        frames: said.traceback.clone(),
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
    let Failure { kind, process, allowed, others, is_own_row_a_guess, clues, message, .. } = said;
    let location = shown.location.or(said.location);
    Failure { kind, process, allowed, others, is_own_row_a_guess, clues, location, message, ..shown }
}
