//! `saved-intermediates`: results from inside the model are kept for debugging, metrics or the next step.
//!
//! Role growth, order 160.
//!
//! Two forms: results that add up from step to step, and results that the next step replaces, alive while the next forward
//! runs.

use std::collections::BTreeMap;

use causes::CauseId;
use report::{Contents, Finding, Location, Severity};
use trace::{Bytes, EventIndex, Lifetime, LifetimeId, Moment, Phase, StackId};

use super::growth::{Remedied, find_growth};
use super::input::Facts;
use super::known::{Source, bytes, count};
use super::removal::Removal;
use super::rule::{Cause, Check, Rank, Rule};
use super::shared::advice;
use crate::measure::growth::stays;
use crate::measure::iterations::Iterations;
use crate::measure::life::Life;
use crate::measure::retention::Retention;
use crate::measure::view::View;

const CHANGE: Remedied =
    ("move them to the CPU, or delete them after use", "use .detach().cpu() where the result is stored");

/// Shares below 1/50 of the live bytes are not reported.
const MIN_SHARE_DENOMINATOR: u64 = 50;

pub(super) const RULE: Rule = Rule { cause: CauseId::SavedIntermediates, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    let growth = find_growth(facts, Retention::Intermediate, RULE.cause, CHANGE);
    growth.or_else(|| find_stale(facts))
}

/// Finds results of the previous iteration that are alive together with the work of this one.
fn find_stale(facts: &Facts) -> Option<Cause> {
    let (view, moment) = (facts.view.filter(|_| facts.pressure.is_none())?, facts.moment()?);
    let levels = facts.iterations.iter().map(|level| Stale::of(facts, view, level, moment));
    let stale = levels.flatten().max_by_key(|stale| stale.bytes)?;
    let total = view.live_total(moment);
    if stale.bytes.0.saturating_mul(MIN_SHARE_DENOMINATOR) < total.0 {
        return None;
    }
    let of = match &stale.level.at {
        Some(at) => format!("pass of the loop at {}", facts.at(at)),
        None => "step".to_owned(),
    };
    let held = stale.bytes;
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: Severity::Warning,
        message: format!(
            "{held} of the previous {of} are still alive: a variable holds them until the next result replaces them"
        ),
        location: stale.location,
        evidence: vec![
            bytes("allocated in the previous iteration", held, Source::Lifetimes),
            count("tensors", stale.tensors, Source::Lifetimes),
        ],
        remedies: vec![advice(
            "free them before the next forward",
            "del the variable at the end of the iteration, or keep .detach().cpu(), or .item() of a loss",
        )],
    };
    let cause = Cause { finding, bytes: Some(held), rank: Rank::Fault, removal: None };
    Some(cause.with_removal(Removal::free_after(stale.kept).steady()))
}

/// The tensors of the previous iteration that are alive.
struct Stale<'f> {
    level: &'f Iterations,
    kept: Vec<(LifetimeId, EventIndex)>,
    bytes: Bytes,
    tensors: u64,
    /// The line outside modules that allocated most bytes.
    location: Option<Location>,
}

impl<'f> Stale<'f> {
    fn of(facts: &Facts, view: &View, level: &'f Iterations, moment: Moment) -> Option<Stale<'f>> {
        let event = moment.event_before()?;
        let previous = level.number(event)?.checked_sub(1)?;
        let last = level.last_event(previous)?;
        let is_stale = |(id, life, contents): &(LifetimeId, &Lifetime, Contents)| {
            level.of(life) == Some(previous) && !stays(*contents) && is_replaced(facts, view, level, *id, *contents)
        };
        let lives: Vec<_> = view.live_with_ids(moment).filter(is_stale).collect();
        let mut stacks: BTreeMap<StackId, Bytes> = BTreeMap::new();
        for (_, life, _) in &lives {
            *stacks.entry(life.stack).or_default() += life.block();
        }
        let most = stacks.iter().max_by_key(|(stack, bytes)| (**bytes, stack.0));
        let location = most.and_then(|(stack, _)| level.line_of(view, *stack).or_else(|| view.call_location(*stack)));
        let kept: Vec<_> = lives.iter().map(|(id, ..)| (*id, last)).collect();
        let tensors = u64::try_from(kept.len()).unwrap_or(u64::MAX);
        (tensors > 0).then(|| Stale { level, kept, bytes: stacks.into_values().sum(), tensors, location })
    }
}

/// True for a tensor that the program drops later without having used it in a backward: by the run without a limit, else by the phase of
/// the moment.
fn is_replaced(facts: &Facts, view: &View, level: &Iterations, id: LifetimeId, contents: Contents) -> bool {
    let Some(fate) = &facts.fate else {
        let phase = facts.moment().and_then(|at| view.timeline.phase(at.event_before()?));
        let is_computing = matches!(phase, Some(Phase::Forward | Phase::Backward));
        return level.at.is_none() && is_computing && contents == Contents::Activations;
    };
    let freed = fate.freed(id.0 as usize);
    freed.is_some_and(|freed| fate.later.timeline.phase(freed) != Some(Phase::Backward))
}
