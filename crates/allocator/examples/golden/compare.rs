//! Segments and histories, model against recording.

use serde::Deserialize as _;
use trace::{Action, BlockState, SegmentKind};

use crate::recorded::{Place, Segment};
use crate::run::Run;

/// The segments of this moment.
pub(crate) fn segments(run: &Run, expected: &[Segment]) -> Result<(), String> {
    let mut expected: Vec<&Segment> = expected.iter().collect();
    expected.sort_by_key(|segment| segment.addr.clone());
    let got = run.model.segments();
    if got.len() != expected.len() {
        return Err(format!("{} segments, recorded {}", got.len(), expected.len()));
    }
    for (got, expected) in got.iter().zip(expected) {
        let blocks: Vec<_> =
            got.blocks.iter().map(|b| (b.size.0, state(b.state).to_owned(), b.requested_size.0)).collect();
        let kind = if got.kind == SegmentKind::Small { "small" } else { "large" };
        let pool = got.pool.map_or([0, 0], |pool| run.ids.get(&pool).copied().unwrap_or_default());
        let is_same = run.model.device().place(got.address) == expected.addr
            && got.total_size.0 == expected.total
            && got.stream == run.stream(Some(expected.stream))
            && kind == expected.kind
            && expected.pool.is_none_or(|expected| expected == pool)
            && expected.expandable.is_none_or(|expected| expected == got.is_expandable)
            && blocks == expected.blocks;
        if !is_same {
            return Err(format!("segment {got:?} of pool {pool:?}, recorded {expected:?}"));
        }
    }
    Ok(())
}

fn state(state: BlockState) -> &'static str {
    match state {
        BlockState::ActiveAllocated => "active_allocated",
        BlockState::ActivePendingFree => "active_pending_free",
        BlockState::Inactive => "inactive",
    }
}

/// Action, place or free bytes, size, stream.
type Entry = (Action, String, u64, u64);

/// The whole history.
pub(crate) fn trace(run: &Run) -> Result<(), String> {
    let with_pools =
        run.recorded.operations.iter().any(|operation| operation.0 == "create_pool" || operation.0 == "begin_capture");
    let in_order = |entries: &mut dyn Iterator<Item = Entry>| in_order(entries, with_pools);
    let got = in_order(&mut run.model.observer().iter().map(|event| {
        let place = match event.action {
            Action::Oom => event.address.0.to_string(),
            _ => format!("{:?}", run.model.device().place(event.address)),
        };
        (event.action, place, event.size.0, event.stream.0)
    }));
    let recorded =
        run.recorded.trace.iter().filter(|entry| entry.0 != "snapshot").map(|(action, place, size, stream)| {
            let action = Action::from_name(action).ok_or_else(|| format!("unknown action {action}"))?;
            let place = Place::deserialize(place).map_or_else(|_| place.to_string(), |place| format!("{place:?}"));
            Ok((action, place, *size, run.stream(*stream).0))
        });
    let expected = in_order(&mut recorded.collect::<Result<Vec<Entry>, String>>()?.into_iter());
    for (index, (got, expected)) in got.iter().zip(&expected).enumerate() {
        if got != expected {
            return Err(format!("history entry {index}: {got:?}, recorded {expected:?}"));
        }
    }
    if got.len() != expected.len() {
        return Err(format!("{} history entries, recorded {}", got.len(), expected.len()));
    }
    Ok(())
}

/// Runs of `free_completed` have no order between streams, and what several private pools release has none between pools
/// (PyTorch walks hash maps): both are sorted on both sides.
fn in_order(entries: &mut dyn Iterator<Item = Entry>, with_pools: bool) -> Vec<Entry> {
    let mut entries: Vec<Entry> = entries.collect();
    let class = |entry: &Entry| match entry.0 {
        Action::FreeCompleted => 1,
        Action::SegmentFree | Action::SegmentUnmap if with_pools => 2,
        _ => 0,
    };
    for run in entries.chunk_by_mut(|a, b| class(a) != 0 && class(a) == class(b)) {
        run.sort();
    }
    entries
}
