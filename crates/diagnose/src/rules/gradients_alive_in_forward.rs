//! `gradients-alive-in-forward`: gradients of the previous step are still alive while the forward saves activations.
//!
//! Role peak, order 180.

use causes::CauseId;
use report::{Contents, Finding, Remedy, Severity, Standing};
use trace::{Bytes, EventIndex, Moment, Phase};

use super::input::Facts;
use super::known::{Source, bytes};
use super::rule::{Cause, Check, Rank, Rule};
use crate::measure::life::Life;
use crate::measure::view::View;

const SOURCE: Source = Source::TraceLifetimes;

pub(super) const RULE: Rule = Rule { cause: CauseId::GradientsAliveInForward, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    let view = facts.view?;
    let at = facts.moment()?;
    let stale = stale_gradients(view, at.event_before()?)?;
    if stale == Bytes::ZERO {
        return None;
    }
    let activations = view.live_bytes(at, Contents::Activations);
    let finding = Finding {
        rule: RULE.cause,
        severity: if facts.is_at_error() { Severity::Error } else { Severity::Warning },
        message: format!(
            "{stale} of gradients from an earlier step are alive at the peak: zero_grad(set_to_none=True) directly \
             after step() frees them before the next forward"
        ),
        location: facts.failed_at().filter(|_| facts.is_at_error()),
        evidence: vec![
            bytes("gradients of earlier steps at the peak", stale, SOURCE),
            bytes("activations at the peak", activations, SOURCE),
        ],
        remedies: vec![release(view, at, stale)],
    };
    Some(Cause { finding, bytes: Some(stale), rank: Rank::Fault })
}

/// Frees the gradients: the live bytes, less the gradients.
fn release(view: &View, at: Moment, stale: Bytes) -> Remedy {
    let before = view.live_total(at);
    Remedy {
        remedy: "free the gradients before the next forward".to_owned(),
        standing: Standing::Estimated,
        before_bytes: Some(before),
        after_bytes: Some(before - stale),
        how: "optimizer.zero_grad(set_to_none=True) directly after step(), not after the forward; estimated as the memory \
              in use less these gradients"
            .to_owned(),
    }
}

/// The gradients of earlier steps that are live at `event`; `None` outside forward and backward.
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
