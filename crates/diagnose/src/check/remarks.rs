//! All remarks of the report, in its order.

use report::{Assumption, Remark, Verdict};
use trace::Bytes;
use wire::record::SIDE_STREAMS;

use super::case::{Case, CheckCase};
use super::courses::say_difference;
use super::measured::Measured;
use super::notes::{caveats, notes, older_than_history, unaccounted};
use super::verdict::Decision;
use crate::judge::missing_files::{list_missing, name_missing};
use crate::judge::recorded::StreamBounds;
use crate::measure::assumptions::list_assumptions;
use crate::measure::view::View;

/// Lists the remarks on the runs and on the device of `view`.
pub(super) fn list_remarks(
    asked: &CheckCase,
    case: &Case,
    decision: &Decision,
    view: Option<&View>,
    measured: &Measured,
) -> Vec<Remark> {
    let on_runs = notes(case).into_iter().map(Remark::note);
    let missing = list_missing(case.limited).into_iter().map(Remark::note);
    let caveats = name_missing(case.limited).into_iter().chain(caveats(case, decision)).map(Remark::caveat);
    let on_device = view.into_iter().flat_map(|view| on_device(case, view, measured));
    let bounds = asked.runs.find_stream_bounds().and_then(say_bounds);
    let hint = asked.hint.clone().filter(|_| ended_early(&measured.verdict));
    on_runs
        .chain(missing)
        .chain(caveats)
        .chain(on_device)
        .chain(hint.into_iter().chain(bounds).map(Remark::caveat))
        .collect()
}

fn on_device(case: &Case, view: &View, measured: &Measured) -> Vec<Remark> {
    let shown = view.trace.history.peaks().allocated.map_or(Bytes::ZERO, |peak| peak.bytes);
    let difference = say_difference(case, view).map(Remark::caveat);
    let older = older_than_history(&view.trace.history);
    // Of a search the peak is that of the size that goes on, by the trace.
    let counted = measured.verdict.search().is_none().then_some(measured.peak.usage.allocated_bytes);
    let unaccounted = counted.and_then(|counted| unaccounted(view.trace.process, shown, counted));
    difference.into_iter().chain(older.into_iter().chain(unaccounted).map(Remark::note)).collect()
}

fn ended_early(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Incomplete { .. } | Verdict::FitsSoFar { stopped: Some(_), .. })
}

/// Lists the assumptions behind the figures: of the run, of the GPU, and of side streams. Where late streams change no peak, nothing rests
/// on an assumption; where the run with late streams has the lower peak, it ended early, and the assumption stays.
pub(super) fn list_all_assumptions(asked: &CheckCase, case: &Case) -> Vec<Assumption> {
    let bounds = asked.runs.find_stream_bounds();
    let is_settled = bounds.is_some_and(|bounds| bounds.late >= bounds.at_once);
    let of_run = list_assumptions(case.limited).into_iter().chain(asked.assumptions.iter().cloned());
    let others = of_run.filter(|assumption| !is_settled || assumption.id != SIDE_STREAMS);
    let of_streams = bounds.and_then(|bounds| {
        let text = say_bounds(bounds)?;
        Some(Assumption { id: SIDE_STREAMS.to_owned(), text, bytes: bounds.late - bounds.at_once })
    });
    others.chain(of_streams).collect()
}

/// Names both peaks of a program whose peak depends on side streams.
fn say_bounds(bounds: StreamBounds) -> Option<String> {
    let StreamBounds { at_once, late } = bounds;
    (late > at_once).then(|| {
        format!(
            "blocks that a side stream used are counted until the program waits for the stream: {late} at the peak; if they \
             came back at once, {at_once}"
        )
    })
}
