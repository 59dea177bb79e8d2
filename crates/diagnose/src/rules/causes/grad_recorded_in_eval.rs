//! `grad-recorded-in-eval`: a forward without a backward saves its activations for a backward.
//!
//! Role peak, order 170.
//!
//! Evidence: in a pass without a backward most results of the forward were alive until its end, and then freed without a
//! backward. Under `no_grad` each result lives until the next is computed. Unwinding frees the results of the forward in which an error was raised:
//! only the run without a limit shows their use. A forward is training if a backward used other results.

use std::collections::BTreeSet;

use causes::CauseId;
use report::{Contents, Finding, Location, Remedy, Severity};
use trace::run::EndReason;
use trace::{Action, Bytes, EventIndex, Lifetime, LifetimeId, Phase, StackId};

use crate::measure::fate::Fate;
use crate::measure::life::Life;
use crate::measure::view::View;
use crate::rules::advice::advice;
use crate::rules::facts::input::Facts;
use crate::rules::facts::known::{Source, bytes, count};
use crate::rules::rule::removal::Removal;
use crate::rules::rule::{Cause, Check, Rank, Rule};

/// A pass with fewer tensors is too short to judge.
const MIN_TENSORS: u64 = 8;
/// The most allocations of one operator; a loop in one line makes more.
const MOST_TEMPORARIES: usize = 16;
/// Shares below 1/20 of the live bytes are not reported.
const MIN_SHARE_DENOMINATOR: u64 = 20;

pub(super) const RULE: Rule = Rule { cause: CauseId::GradRecordedInEval, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    match facts.fate.as_ref().filter(|_| facts.is_at_error()) {
        Some(fate) => find_saved_in_vain(facts, fate),
        None => find_running_pass(facts).or_else(|| find_completed_pass(facts)),
    }
}

/// Finds results that a module in evaluation mode saved, by the agent's record of the error. Training in evaluation mode, as with frozen
/// statistics, is excluded: a backward has freed earlier results of its lines.
fn find_running_pass(facts: &Facts) -> Option<Cause> {
    let (view, moment) = (facts.view.filter(|_| facts.is_at_error() && facts.pressure.is_none())?, facts.moment()?);
    view.trace.process.ooms.last().filter(|oom| oom.records_in_eval)?;
    let lives = view.trace.history.lifetimes().iter();
    let trained: BTreeSet<StackId> =
        lives.filter(|life| is_used_by_backward(view, life)).map(|life| life.stack).collect();
    let saved: Vec<_> = view
        .live_with_ids(moment)
        .filter(|(_, life, contents)| *contents == Contents::Activations && view.is_made_by_module(life.stack))
        .filter(|(_, life, _)| !trained.contains(&life.stack) && !is_used_by_backward(view, life))
        .map(|(id, life, _)| (id, life))
        .collect();
    let largest = saved.iter().max_by_key(|(_, life)| life.block())?.1;
    let total = total_of(&saved);
    if total.0.saturating_mul(MIN_SHARE_DENOMINATOR) < view.live_total(moment).0 {
        return None;
    }
    let message =
        format!("gradients are recorded in evaluation: {total} are saved for a backward, without torch.no_grad()");
    Some(blame_saved(view, message, view.call_location(largest.stack), &saved))
}

fn total_of(saved: &[(LifetimeId, &Lifetime)]) -> Bytes {
    saved.iter().map(|(_, life)| life.block()).sum()
}

/// The cause for results that are saved in vain and alive at the error. The replay frees the results as under `no_grad`.
fn blame_saved(view: &View, message: String, location: Option<Location>, saved: &[(LifetimeId, &Lifetime)]) -> Cause {
    let total = total_of(saved);
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: Severity::Error,
        message,
        location,
        evidence: vec![
            bytes("saved and alive at the error", total, Source::LiveAtError),
            count("tensors", u64::try_from(saved.len()).unwrap_or(u64::MAX), Source::Lifetimes),
        ],
        remedies: vec![no_grad()],
    };
    let results = saved.iter().map(|(id, life)| (*id, life.begun()));
    let cause = Cause { finding, bytes: Some(total), rank: Rank::Fault, removal: None };
    cause.with_removal(Removal::free_after(freed_by_next(view, results)).estimated())
}

/// True for a tensor that was alive during a backward.
fn is_used_by_backward(view: &View, life: &Lifetime) -> bool {
    let begun = life.begun().and_then(|event| view.timeline.number(event));
    let freed = life.freed().and_then(|event| view.timeline.number(event));
    begun.zip(freed).is_some_and(|(begun, freed)| view.timeline.has_backward(begun, freed))
}

/// Finds results that are alive at the error though no backward uses them later, as the run without a limit shows.
fn find_saved_in_vain(facts: &Facts, fate: &Fate) -> Option<Cause> {
    let (view, moment) = (facts.view.filter(|_| facts.pressure.is_none())?, facts.moment()?);
    if view.trace.process.ooms.last().is_some_and(|oom| oom.without_grad) {
        return None;
    }
    let is_made = |life: &Lifetime| view.phase_of(life) == Some(Phase::Forward) && view.is_made_by_module(life.stack);
    let made: Vec<_> = view
        .live_with_ids(moment)
        .filter(|(_, life, contents)| *contents == Contents::Activations && is_made(life))
        .collect();
    let in_vain: Vec<_> = made
        .iter()
        .filter(|(id, ..)| fate.life(id.0 as usize).is_some_and(|life| is_saved_in_vain(fate.later, life, None)))
        .map(|(id, life, _)| (*id, *life))
        .collect();
    let saved = total_of(&in_vain);
    let tensors = u64::try_from(in_vain.len()).unwrap_or(u64::MAX);
    let is_small = saved.0.saturating_mul(MIN_SHARE_DENOMINATOR) < view.live_total(moment).0;
    if tensors < MIN_TENSORS || in_vain.len() * 2 < made.len() || is_small {
        return None;
    }
    let message =
        format!("a forward saves {saved} for a backward that never comes: gradients are recorded in evaluation");
    let location = in_vain.first().and_then(|(_, life)| view.call_location(life.stack));
    Some(blame_saved(view, message, location, &in_vain))
}

/// Frees each result after the second later allocation of a module: roughly what happens under `no_grad`, where the next module reads
/// a result and a residual connection keeps it a little longer.
fn freed_by_next(
    view: &View,
    results: impl Iterator<Item = (LifetimeId, Option<EventIndex>)>,
) -> Vec<(LifetimeId, EventIndex)> {
    let made = view.trace.history.lifetimes().iter().filter(|life| view.is_made_by_module(life.stack));
    let made: Vec<EventIndex> = made.filter_map(Life::begun).collect();
    let after = |begun: EventIndex| made.get(made.partition_point(|event| *event <= begun) + 1).copied();
    results.filter_map(|(id, begun)| Some((id, after(begun?)?))).collect()
}

fn no_grad() -> Remedy {
    advice(
        "evaluate under torch.no_grad()",
        "or torch.inference_mode(); model.eval() changes dropout and batch normalisation, not the tensors saved for backward",
    )
}

/// Finds the completed pass with most bytes saved for no backward.
fn find_completed_pass(facts: &Facts) -> Option<Cause> {
    let (view, moment) = (facts.view.filter(|view| may_record(view))?, facts.moment()?);
    let freed = list_passes(view, None);
    // The only result of a program is kept to the end, and the graph with the result.
    let end = is_whole(view).then(|| view.trace.end()).filter(|_| freed.is_empty());
    let passes = if end.is_some() { list_passes(view, end) } else { freed };
    let pass = passes.into_iter().max_by_key(|pass| pass.most)?;
    let held = view.live_after(moment).filter(|(life, _)| pass.stacks.contains(&life.stack));
    let held: Bytes = held.map(|(life, _)| life.block()).sum();
    if pass.most.0.saturating_mul(MIN_SHARE_DENOMINATOR) < view.live_total(moment).0 {
        return None;
    }
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: if facts.is_fatal() && held >= pass.most { Severity::Error } else { Severity::Warning },
        message: format!(
            "a forward without a backward saved {} for a backward: {} tensors were alive until its end",
            pass.most, pass.tensors
        ),
        location: pass.stacks.first().and_then(|stack| view.call_location(*stack)),
        evidence: vec![
            bytes("peak of the forward", pass.most, Source::Lifetimes),
            count("tensors allocated by then", pass.made, Source::Lifetimes),
            count("of these still alive", pass.tensors, Source::Lifetimes),
        ],
        remedies: vec![no_grad()],
    };
    Some(Cause { finding, bytes: Some(held), rank: Rank::Fault, removal: None })
}

/// False if every call of a module ran under `no_grad`.
fn may_record(view: &View) -> bool {
    let mut called = view.trace.process.roots.iter().filter(|root| root.last_call > 0).peekable();
    called.peek().is_none() || called.any(|root| !root.is_without_grad)
}

/// A forward without a backward of its results, up to `now` and at its peak.
#[derive(Clone, Debug, Default)]
struct Pass {
    now: Bytes,
    alive: u64,
    made_now: u64,
    stacks_now: BTreeSet<StackId>,
    most: Bytes,
    tensors: u64,
    made: u64,
    stacks: BTreeSet<StackId>,
    /// The results of the pass that a backward used.
    trained: u64,
}

impl Pass {
    fn record_alloc(&mut self, stack: StackId, block: Bytes) {
        self.now += block;
        self.alive += 1;
        self.made_now += 1;
        self.stacks_now.insert(stack);
        if self.now > self.most {
            (self.most, self.tensors, self.made) = (self.now, self.alive, self.made_now);
            self.stacks.clone_from(&self.stacks_now);
        }
    }

    fn record_free(&mut self, block: Bytes) {
        self.now -= block;
        self.alive = self.alive.saturating_sub(1);
    }

    /// Checks that at least half of the tensors were alive at the peak, and that a backward used few others.
    fn is_saving(&self) -> bool {
        self.tensors >= MIN_TENSORS && self.tensors * 2 >= self.made && self.trained * 2 < self.tensors
    }
}

/// The refused requests with an error in Python. A library with a smaller workspace at hand raises no error.
fn list_raised(view: &View) -> Vec<EventIndex> {
    let (events, records) = (view.trace.ooms(), &view.trace.process.ooms);
    if events.len() != records.len() {
        return events;
    }
    let last = events.last().copied();
    let raised = events.into_iter().zip(records).filter(|(event, record)| {
        let ends = Some(*event) == last && view.trace.process.errors.iter().any(|error| error.oom);
        ends || record.caught_at.is_some() || record.guard.is_some()
    });
    raised.map(|(event, _)| event).collect()
}

/// True for a program that came to its end by itself.
fn is_whole(view: &View) -> bool {
    view.trace.process.end.as_ref().is_some_and(|end| end.reason == EndReason::Exit)
}

/// The passes that saved tensors for no backward. With `end`, live tensors at the end count, too.
fn list_passes(view: &View, end: Option<EventIndex>) -> Vec<Pass> {
    let (mut passes, mut pass) = (Vec::new(), Pass::default());
    let ooms = list_raised(view);
    for (index, event) in (0..).map(EventIndex).zip(view.trace.events) {
        let Some(id) = view.trace.history.lifetime_of(index) else { continue };
        let Some(life) = view.trace.history.lifetimes().get(id.0 as usize) else { continue };
        let is_cut = ooms.iter().any(|oom| life.is_live_after(*oom));
        if !is_cut && is_saved_in_vain(view, life, end) {
            match event.action {
                Action::Alloc => pass.record_alloc(life.stack, life.block()),
                Action::FreeRequested => pass.record_free(life.block()),
                _ => {}
            }
            if pass.alive == 0 {
                passes.push(std::mem::take(&mut pass));
            }
        } else if event.action == Action::Alloc
            && view.is_made_by_module(life.stack)
            && (is_cut || is_used_by_backward(view, life))
        {
            pass.trained += 1;
        }
    }
    passes.push(pass);
    passes.retain(Pass::is_saving);
    passes
}

/// Checks that a tensor of the forward was freed without a backward in its lifetime.
fn is_saved_in_vain(view: &View, life: &trace::Lifetime, end: Option<EventIndex>) -> bool {
    let (Some(begun), Some(freed)) = (life.begun(), life.freed().or(end)) else {
        return false;
    };
    let last = EventIndex(view.trace.end().0.saturating_sub(1));
    let (made, done) = (view.timeline.number(begun), view.timeline.number(freed.min(last)));
    let forward = view.timeline.phase(begun) == Some(Phase::Forward) && view.is_made_by_module(life.stack);
    let (Some(made), Some(done)) = (made, done) else { return false };
    forward && !view.timeline.has_backward(made, done) && !is_of_one_operator(view, life.stack, begun, freed)
}

/// True for a temporary of one operator: no other stack and no other module allocated in its lifetime. Without marks, false: layers have one stack.
fn is_of_one_operator(view: &View, stack: StackId, begun: EventIndex, freed: EventIndex) -> bool {
    let events = view.trace.events.get(begun.0 as usize..freed.0 as usize).unwrap_or_default();
    let mark = events.first().and_then(|event| event.mark);
    let made = events.iter().filter(|event| event.action == Action::Alloc).take(MOST_TEMPORARIES + 1);
    let all = made.clone().all(|event| event.stack == stack && event.mark == mark);
    mark.is_some() && all && made.count() <= MOST_TEMPORARIES
}
