//! Compares the model's segments and histories with the recording.

use allocator::SegmentView;
use serde::Deserialize as _;
use trace::{Action, BlockState, SegmentKind};

use crate::recorded::{self, Location, Segment};
use crate::run::Run;

/// Compares the current segments.
pub(crate) fn segments(run: &Run, expected: &[Segment]) -> Result<(), String> {
    let mut expected: Vec<&Segment> = expected.iter().collect();
    expected.sort_by_key(|segment| segment.addr.clone());
    let got = run.model.segments();
    if got.len() != expected.len() {
        return Err(format!("{} segments, recorded {}", got.len(), expected.len()));
    }
    got.iter().zip(expected).try_for_each(|(got, expected)| segment(run, got, expected))
}

fn segment(run: &Run, got: &SegmentView, expected: &Segment) -> Result<(), String> {
    let blocks = got.blocks.iter().map(|block| (block.size.0, state(block.state), block.requested_size.0));
    let kind = if got.kind == SegmentKind::Small { "small" } else { "large" };
    let pool = run.pools.id(got.pool);
    let is_same = run.model.device().place(got.address) == expected.addr
        && got.total_size.0 == expected.total
        && got.stream == run.stream(expected.stream)?
        && kind == expected.kind
        && expected.pool.is_none_or(|expected| expected == pool)
        && expected.expandable.is_none_or(|expected| expected == got.is_expandable)
        && blocks.eq(expected.blocks.iter().map(|(size, state, requested)| (*size, state.as_str(), *requested)));
    if is_same { Ok(()) } else { Err(format!("segment {got:?} of pool {pool:?}, recorded {expected:?}")) }
}

fn state(state: BlockState) -> &'static str {
    match state {
        BlockState::ActiveAllocated => "active_allocated",
        BlockState::ActivePendingFree => "active_pending_free",
        BlockState::Inactive => "inactive",
    }
}

/// Action, location (of an `oom` the free bytes), size, stream.
type ComparedEntry = (Action, String, u64, u64);

/// Compares the whole history.
pub(crate) fn trace(run: &Run) -> Result<(), String> {
    let got = in_order(run, list_modelled(run));
    let expected = in_order(run, list_recorded(run)?);
    let mut pairs = got.iter().zip(&expected).enumerate();
    if let Some((index, (got, expected))) = pairs.find(|(_, (got, expected))| got != expected) {
        return Err(format!("history entry {index}: {got:?}, recorded {expected:?}"));
    }
    if got.len() == expected.len() {
        return Ok(());
    }
    Err(format!("{} history entries, recorded {}", got.len(), expected.len()))
}

fn list_modelled(run: &Run) -> Vec<ComparedEntry> {
    let events = run.model.observer().iter().map(|event| {
        let place = match event.action {
            Action::Oom => event.address.0.to_string(),
            _ => format!("{:?}", run.model.device().place(event.address)),
        };
        (event.action, place, event.size.0, event.stream.0)
    });
    events.collect()
}

/// Leaves out `snapshot` entries, which do not come from the allocator.
fn list_recorded(run: &Run) -> Result<Vec<ComparedEntry>, String> {
    let entries = run.recorded.trace.iter().filter(|entry| entry.0 != "snapshot");
    entries.map(|entry| recorded_entry(run, entry)).collect()
}

fn recorded_entry(
    run: &Run,
    recorded::HistoryEntry(action, place, size, stream): &recorded::HistoryEntry,
) -> Result<ComparedEntry, String> {
    let action = Action::from_name(action).ok_or_else(|| format!("unknown action {action}"))?;
    let place = Location::deserialize(place).map_or_else(|_| place.to_string(), |place| format!("{place:?}"));
    Ok((action, place, *size, run.stream(stream.unwrap_or(0))?.0))
}

/// Sorts both sides where PyTorch walks hash maps: runs of `free_completed` on several streams, and the releases of
/// several private pools.
fn in_order(run: &Run, mut entries: Vec<ComparedEntry>) -> Vec<ComparedEntry> {
    let has_pools = run.recorded.has_pools();
    let class = |entry: &ComparedEntry| match entry.0 {
        Action::FreeCompleted => Some(0),
        Action::SegmentFree | Action::SegmentUnmap if has_pools => Some(1),
        _ => None,
    };
    for run in entries.chunk_by_mut(|a, b| class(a).is_some() && class(a) == class(b)) {
        run.sort();
    }
    entries
}
