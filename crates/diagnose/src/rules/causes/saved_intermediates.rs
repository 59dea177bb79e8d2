//! `saved-intermediates`: results from inside the model are kept for debugging, metrics or the next step.
//!
//! Role growth, order 160.
//!
//! Two forms: results that add up from step to step, and results that the next step replaces, alive while the next forward
//! runs.

use std::collections::{BTreeMap, BTreeSet};

use causes::CauseId;
use report::{Contents, Finding, Location, Severity};
use trace::{Bytes, EventIndex, Lifetime, LifetimeId, Moment, Phase, StackId};

use crate::measure::growth::stays;
use crate::measure::iterations::Iterations;
use crate::measure::joined::find_joined;
use crate::measure::life::Life;
use crate::measure::retention::{Retention, is_unseen};
use crate::measure::view::View;
use crate::rules::advice::advice;
use crate::rules::facts::input::Facts;
use crate::rules::facts::known::{Source, bytes, count};
use crate::rules::families::growth::{Remedied, find_growth};
use crate::rules::rule::removal::Removal;
use crate::rules::rule::{Cause, Check, Rank, Rule};

const CHANGE: Remedied =
    ("move them to the CPU, or delete them after use", "use .detach().cpu() where the result is stored");

/// The holder of the last iteration's tensors, and the remedy.
const OF_VARIABLE: (&str, Remedied) = (
    "a variable holds them until the next result replaces them",
    (
        "free them before the next forward",
        "del the variable at the end of the iteration, or keep .detach().cpu(), or .item() of a loss",
    ),
);
const OF_GRAPH: (&str, Remedied) = (
    "the autograd graph of a result that no backward uses keeps them",
    (
        "compute the result under torch.no_grad(), or from .detach()",
        "what is only logged needs no graph: with torch.no_grad() around it nothing is saved for a backward, and .item() keeps a number",
    ),
);

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
    // What every pass joins to the last ones is growth.
    let joined: BTreeSet<LifetimeId> = find_joined(view, moment).into_iter().flat_map(|joined| joined.lives).collect();
    let levels = facts.iterations.iter().map(|level| Stale::of(facts, view, level, moment, &joined));
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
    let (keeper, change) = if stale.is_of_graph { OF_GRAPH } else { OF_VARIABLE };
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: Severity::Warning,
        message: format!("{held} of the previous {of} are still alive: {keeper}"),
        location: stale.location,
        evidence: vec![
            bytes("allocated in the previous iteration", held, Source::Lifetimes),
            count("tensors", stale.tensors, Source::Lifetimes),
        ],
        remedies: vec![advice(change.0, change.1)],
    };
    let cause = Cause { finding, bytes: Some(held), rank: Rank::Fault, removal: None };
    let removal = if stale.is_of_graph {
        Removal::free_after(list_unrecorded(view, &stale.kept)).estimated()
    } else {
        Removal::free_after(stale.kept)
    };
    Some(cause.with_removal(removal.steady()))
}

/// Frees each tensor of the stacks of `kept` after the second later allocation, as without a graph, in every iteration.
fn list_unrecorded(view: &View, kept: &[(LifetimeId, EventIndex)]) -> Vec<(LifetimeId, EventIndex)> {
    let lives = view.trace.history.lifetimes();
    let stacks: BTreeSet<StackId> = kept.iter().filter_map(|(id, _)| Some(lives.get(id.0 as usize)?.stack)).collect();
    let made: Vec<EventIndex> = lives.iter().filter_map(Life::begun).collect();
    let later = |begun: EventIndex| made.get(made.partition_point(|event| *event <= begun) + 1).copied();
    let all = (0..).map(LifetimeId).zip(lives).filter(|(_, life)| stacks.contains(&life.stack));
    all.filter_map(|(id, life)| Some((id, later(life.begun()?)?))).collect()
}

/// The tensors of the previous iteration that are alive.
struct Stale<'f> {
    level: &'f Iterations,
    kept: Vec<(LifetimeId, EventIndex)>,
    bytes: Bytes,
    tensors: u64,
    /// True if no Python object refers to most of them.
    is_of_graph: bool,
    /// The line outside modules that allocated most bytes.
    location: Option<Location>,
}

impl<'f> Stale<'f> {
    fn of(
        facts: &Facts,
        view: &View,
        level: &'f Iterations,
        moment: Moment,
        joined: &BTreeSet<LifetimeId>,
    ) -> Option<Stale<'f>> {
        let event = moment.event_before()?;
        let previous = level.number(event)?.checked_sub(1)?;
        let last = level.last_event(previous)?;
        let is_stale = |(id, life, contents): &(LifetimeId, &Lifetime, Contents)| {
            let is_here = level.of(life) == Some(previous) && !joined.contains(id);
            is_here && !stays(*contents) && is_replaced(facts, view, level, *id, *contents)
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
        let (bytes, is_of_graph) =
            (stacks.into_values().sum(), is_unseen(view, lives.iter().map(|(_, life, _)| *life)));
        (tensors > 0).then_some(Stale { level, kept, bytes, tensors, is_of_graph, location })
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
