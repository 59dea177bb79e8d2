//! `gradients-alive-in-forward`: the gradients of the step before are still there while activations pile up.

use report::{Contents, Finding, RuleId, Severity};
use trace::{Bytes, EventIndex, Phase};

use super::{Facts, bytes};
use crate::measure::view::View;

/// Where its figures come from.
const SOURCE: &str = "lifetimes in the trace";

pub(super) fn find(facts: &Facts) -> Option<Finding> {
    let peak = facts.view.found.allocated_peak?;
    let stale = stale_gradients(facts.view, peak.event)?;
    if stale == Bytes::ZERO {
        return None;
    }
    let activations = facts.view.live_bytes(peak.event, Contents::Activations);
    Some(Finding {
        rule: RuleId("gradients-alive-in-forward"),
        severity: Severity::Warning,
        message: format!(
            "{stale} of gradients from an earlier step are alive at the peak: zero_grad(set_to_none=True) straight \
             after step() lets go of them before the next forward"
        ),
        location: None,
        evidence: vec![
            bytes("gradients of earlier steps at the peak", stale, SOURCE),
            bytes("activations at the peak", activations, SOURCE),
        ],
        remedies: Vec::new(),
    })
}

/// The gradients that are live at `event` and were made in an earlier step; `None` outside forward and backward.
fn stale_gradients(view: &View, event: EventIndex) -> Option<Bytes> {
    let now = view.mark(event).filter(|mark| matches!(mark.phase, Phase::Forward | Phase::Backward))?;
    let blocks = view.live_after(event).filter_map(|(life, contents)| {
        let made = view.mark(life.allocation.event)?;
        let stale = contents == Contents::Gradients && made.step < now.step;
        stale.then_some(life.allocation.block)
    });
    Some(blocks.sum())
}
