//! Verdicts on the steps after those that were run: memory that grows until the loop ends, and the optimizer's state that the first step leaves
//! to the second.

use report::{Contents, Growth, Need, Usage};
use trace::{Bytes, EventIndex, Process};

use super::case::Case;
use super::conditions::fills_before_end;
use super::verdict::Decision;
use crate::measure::view::View;

/// Returns the decision with the steps to come, and their need; both are unchanged if nothing is foreseen.
pub(super) fn foresee(
    case: &Case,
    view: &View,
    decision: &Decision,
    growth: Option<&Growth>,
    need: Need,
) -> (Decision, Need) {
    if !matches!(decision, Decision::Fits { search: None, .. }) {
        return (decision.clone(), need);
    }
    let grown = growth.and_then(|growth| grow(case, growth, &need));
    match grown.or_else(|| add_state(case, view, decision, &need)) {
        Some(need) => (Decision::Oom, need),
        None => (decision.clone(), need),
    }
}

/// Returns the need at the end of the loop, if growth fills the device before.
fn grow(case: &Case, growth: &Growth, need: &Need) -> Option<Need> {
    let total = fills_before_end(case, growth)?;
    let done = case.limited.processes.iter().map(Process::step_count).max().unwrap_or_default();
    let steps = total.saturating_sub(u64::from(done));
    Some(with_more(need, Bytes(growth.bytes_per_iteration.0.saturating_mul(steps))))
}

/// Returns the need of a second step, if the optimizer's state on top of the first step's peak does not fit: a program that ended after one
/// step made the state after its peak.
fn add_state(case: &Case, view: &View, decision: &Decision, need: &Need) -> Option<Need> {
    let has_ended = matches!(decision, Decision::Fits { stopped: Some(_), .. }) || case.launch.steps == 1;
    let peak = view.trace.history.peaks().allocated?;
    let last = EventIndex(u32::try_from(view.trace.events.len().checked_sub(1)?).ok()?);
    let state = view.live_bytes(last, Contents::OptimizerState) - view.live_bytes(peak.at, Contents::OptimizerState);
    let second = with_more(need, state);
    let is_full = second.usage.device_bytes > case.available();
    let reason = "the optimizer's state, which the first step makes, comes on top of its peak".to_owned();
    (has_ended && view.trace.process.step_count() == 1 && is_full).then_some(Need { at_least: Some(reason), ..second })
}

fn with_more(need: &Need, more: Bytes) -> Need {
    let Usage { allocated_bytes, reserved_bytes, device_bytes } = need.usage;
    let usage = Usage {
        allocated_bytes: allocated_bytes + more,
        reserved_bytes: reserved_bytes + more,
        device_bytes: device_bytes + more,
    };
    Need { usage, ..need.clone() }
}
