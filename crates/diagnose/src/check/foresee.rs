//! The verdict on the step after the only one that was run: the optimizer's state, which the first step leaves to the second.
//!
//! Growth is no part of it: memory that was not seen to fill the device may stop growing (Note [Fits so far] in `conditions.rs`).

use report::{Contents, Need, Usage};
use trace::{Bytes, EventIndex};

use super::case::Case;
use super::verdict::Decision;
use crate::measure::view::View;

/// Returns the decision with the step to come, and its need; both are unchanged if nothing is foreseen.
pub(super) fn foresee(case: &Case, view: &View, decision: &Decision, need: Need) -> (Decision, Need) {
    if !matches!(decision, Decision::Fits { search: None, .. }) {
        return (decision.clone(), need);
    }
    match add_state(case, view, decision, &need) {
        Some(need) => (Decision::Oom, need),
        None => (decision.clone(), need),
    }
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
