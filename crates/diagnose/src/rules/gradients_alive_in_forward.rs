//! `gradients-alive-in-forward`: the gradients of the step before are still there while activations pile up.

use report::{Contents, Finding, Remedy, RuleId, Severity, Standing};
use trace::{Bytes, EventIndex, Moment, Phase};

use super::{Cause, Rank, bytes};
use crate::facts::Facts;
use crate::measure::life::Life;
use crate::measure::view::View;

/// Where its figures come from.
const SOURCE: &str = "lifetimes in the trace";

pub(super) fn find(facts: &Facts) -> Option<Cause> {
    let view = facts.view?;
    let at = facts.moment?;
    let stale = stale_gradients(view, at.event()?)?;
    if stale == Bytes::ZERO {
        return None;
    }
    let activations = view.live_bytes(at, Contents::Activations);
    let finding = Finding {
        rule: RuleId("gradients-alive-in-forward"),
        severity: if facts.explains && facts.fatal { Severity::Error } else { Severity::Warning },
        message: format!(
            "{stale} of gradients from an earlier step are alive at the peak: zero_grad(set_to_none=True) straight \
             after step() lets go of them before the next forward"
        ),
        location: facts.failed_at().filter(|_| facts.explains),
        evidence: vec![
            bytes("gradients of earlier steps at the peak", stale, SOURCE),
            bytes("activations at the peak", activations, SOURCE),
        ],
        remedies: if facts.explains { vec![release(view, at, stale)] } else { Vec::new() },
    };
    Some(Cause { finding, bytes: Some(stale), rank: Rank::Fault })
}

/// What was in use, less the gradients.
fn release(view: &View, at: Moment, stale: Bytes) -> Remedy {
    let before = view.live_total(at);
    Remedy {
        remedy: "let go of the gradients before the next forward".to_owned(),
        standing: Standing::Estimated,
        before_bytes: Some(before),
        after_bytes: Some(before - stale),
        how: "optimizer.zero_grad(set_to_none=True) straight after step(), not after the forward; reckoned as what was in \
              use less these gradients"
            .to_owned(),
    }
}

/// The gradients that are live at `event` and were made in an earlier step; `None` outside forward and backward.
fn stale_gradients(view: &View, event: EventIndex) -> Option<Bytes> {
    let (step, phase) = view.timeline.at(event)?;
    if !matches!(phase, Phase::Forward | Phase::Backward) {
        return None;
    }
    let blocks = view.live_after(event).filter_map(|(life, contents)| {
        let stale = contents == Contents::Gradients && view.step_of(life)? < step;
        stale.then_some(life.block())
    });
    Some(blocks.sum())
}
