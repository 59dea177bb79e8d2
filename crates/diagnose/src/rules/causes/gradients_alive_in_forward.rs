//! `gradients-alive-in-forward`: gradients of the previous step are still alive while the forward saves activations.
//!
//! Role peak, order 180.

use causes::CauseId;
use report::{Contents, Finding, Location, Severity};
use trace::run::StepRecord;
use trace::{Bytes, EventIndex, LifetimeId, Moment, Phase};

use crate::measure::life::Life;
use crate::measure::view::View;
use crate::rules::advice::advice;
use crate::rules::facts::input::Facts;
use crate::rules::facts::known::{Source, bytes};
use crate::rules::rule::removal::Removal;
use crate::rules::rule::{Cause, Check, Rank, Rule};

const SOURCE: Source = Source::TraceLifetimes;

pub(super) const RULE: Rule = Rule { cause: CauseId::GradientsAliveInForward, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    let view = facts.view?;
    let at = facts.moment()?;
    let gradients = list_stale(facts, view, at)?;
    let lives = view.trace.history.lifetimes();
    let stale: Bytes = gradients.iter().filter_map(|(id, _)| Some(lives.get(id.0 as usize)?.block())).sum();
    if stale == Bytes::ZERO {
        return None;
    }
    let activations = view.live_bytes(at, Contents::Activations);
    let step = find_step(view, at);
    let stepped = step.and_then(|step| step.at.as_ref()).map(at_line);
    let zeroed = step.and_then(|step| step.zeroed_at.as_ref()).map(at_line);
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: if facts.is_at_error() { Severity::Error } else { Severity::Warning },
        message: format!(
            "{stale} of gradients from an earlier step are alive during the forward: call zero_grad(set_to_none=True) directly after step(){}",
            zeroed.map_or_else(String::new, |line| format!(", not at {}", facts.at(&line)))
        ),
        location: stepped.or_else(|| facts.failed_at()).filter(|_| facts.is_at_error()),
        evidence: vec![
            bytes("gradients of earlier steps at the peak", stale, SOURCE),
            bytes("activations at the peak", activations, SOURCE),
        ],
        remedies: vec![advice(
            "free the gradients before the next forward",
            "optimizer.zero_grad(set_to_none=True) directly after step(), not after the forward",
        )],
    };
    let cause = Cause { finding, bytes: Some(stale), rank: Rank::Fault, removal: None };
    Some(cause.with_removal(Removal::free_after(gradients).steady()))
}

/// The last optimizer step before a moment.
fn find_step<'v>(view: &'v View<'v>, at: Moment) -> Option<&'v StepRecord> {
    let step = view.timeline.step(at.event_before()?)?.checked_sub(1)?;
    view.trace.process.steps.iter().find(|record| record.step == step)
}

fn at_line((file, line): &(String, u32)) -> Location {
    Location { file: file.clone(), line: *line, column: None }
}

/// The gradients of earlier steps that are live at the moment, each with the last event of its step; `None` outside forward and backward.
fn list_stale(facts: &Facts, view: &View, at: Moment) -> Option<Vec<(LifetimeId, EventIndex)>> {
    let (step, phase) = view.timeline.at(at.event_before()?)?;
    if !matches!(phase, Phase::Forward | Phase::Backward) {
        return None;
    }
    let steps = facts.iterations.iter().find(|level| level.at.is_none())?;
    let gradients = view.live_with_ids(at).filter(|(_, life, contents)| {
        *contents == Contents::Gradients && view.step_of(life).is_some_and(|made| made < step)
    });
    Some(gradients.filter_map(|(id, life, _)| Some((id, steps.last_event(steps.of(life)?)?))).collect())
}
