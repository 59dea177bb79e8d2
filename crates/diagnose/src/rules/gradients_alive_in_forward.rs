//! `gradients-alive-in-forward`: the gradients of the step before are still there while activations pile up.

use report::{Contents, Finding, RuleId, Severity};
use trace::{Bytes, Phase};

use super::{Facts, bytes};

pub(super) fn find(facts: &Facts) -> Vec<Finding> {
    let view = facts.view;
    let Some(peak) = view.found.allocated_peak else {
        return Vec::new();
    };
    let Some(mark) = view
        .mark(peak.event)
        .filter(|mark| matches!(mark.phase, Phase::Forward | Phase::Backward))
    else {
        return Vec::new();
    };
    let made_before = |step: u32| step < mark.step;
    let stale = view.live_after(peak.event).filter(|(life, contents)| {
        let made = view
            .mark(life.allocation.event)
            .is_some_and(|made| made_before(made.step));
        *contents == Contents::Gradients && made
    });
    let stale: Bytes = stale.map(|(life, _)| life.allocation.block).sum();
    if stale == Bytes::ZERO {
        return Vec::new();
    }
    let source = "lifetimes in the trace";
    vec![Finding {
        rule: RuleId("gradients-alive-in-forward"),
        severity: Severity::Warning,
        message: format!(
            "{stale} of gradients from an earlier step are alive at the peak: zero_grad(set_to_none=True) straight after \
             step() lets go of them before the next forward"
        ),
        location: None,
        evidence: vec![
            bytes("gradients of earlier steps at the peak", stale, source),
            bytes(
                "activations at the peak",
                view.live_bytes(peak.event, Contents::Activations),
                source,
            ),
        ],
        remedies: Vec::new(),
    }]
}
