//! What the rules about growth share: the finding, its evidence, and what letting go of it would give.
//!
//! `check` and `explain` have one rule for each reason of growth. (`check` once called all of them `growing-memory`;
//! the reason is what decides the remedy, so it names the rule.)

use report::{Evidence, Finding, Growth, Location, Remedy, RuleId, Severity, Standing};
use trace::{Bytes, Moment};

use super::{Cause, Rank, bytes, count};
use crate::facts::Facts;
use crate::measure::growth::{Survivors, stays};
use crate::measure::kept::Kept;
use crate::measure::life::Life;
use crate::measure::view::View;

/// How many lines are named.
const LINES: usize = 3;

/// A remedy: what to do, and the change to make.
pub(super) type Change = (&'static str, &'static str);

/// The finding that `rule` makes of growth whose reason is `kept`; `change` is what helps.
pub(super) fn find(facts: &Facts, kept: Kept, rule: RuleId, change: Change) -> Option<Cause> {
    let growth = facts.growth.as_ref().filter(|_| facts.kept == Some(kept))?;
    let view = facts.view?;
    let most = facts.survivors.first();
    let held = growth.location.as_ref().zip(moment(facts)).and_then(|(line, at)| kept_at(view, at, line));
    let finding = Finding {
        rule,
        severity: if facts.fatal { Severity::Error } else { Severity::Warning },
        message: message(growth, most, what_keeps(kept)),
        location: growth.location.clone(),
        evidence: evidence(facts, growth),
        remedies: release(facts, held, change).into_iter().collect(),
    };
    let bytes = facts.survivors.iter().map(|line| line.bytes).sum();
    Some(Cause { finding, bytes: Some(bytes), rank: Rank::Fault })
}

fn what_keeps(kept: Kept) -> &'static str {
    match kept {
        Kept::Cycle => "that only the garbage collector frees",
        Kept::Graph => "that a graph keeps",
        Kept::Intermediate => "inside a module that something keeps",
        Kept::Collection => "that something keeps",
    }
}

fn message(growth: &Growth, most: Option<&Survivors>, what_keeps: &str) -> String {
    let what = most.map_or_else(String::new, |line| match line.count {
        1 => format!("; most of it is 1 tensor made here {what_keeps}"),
        n => format!("; most of it is {n} tensors made here {what_keeps}"),
    });
    let full = growth.full_at_step.map_or_else(String::new, |step| format!(", so the device is full at step {step}"));
    format!("every step leaves {} behind{full}{what}", growth.bytes_per_step)
}

fn evidence(facts: &Facts, growth: &Growth) -> Vec<Evidence> {
    let mut evidence = vec![bytes("growth per step", growth.bytes_per_step, facts.growth_source)];
    for survivor in facts.survivors.iter().take(LINES) {
        let at = survivor.location.as_ref().map_or_else(|| "an unknown line".to_owned(), |line| facts.at(line));
        evidence.push(bytes(&format!("made at {at} and alive a step later"), survivor.bytes, "lifetimes in the trace"));
    }
    if let Some(step) = growth.full_at_step {
        evidence.push(count("step at which the device is full", u64::from(step), "growth from the peak on"));
    }
    evidence
}

/// The moment that letting go is reckoned at.
fn moment(facts: &Facts) -> Option<Moment> {
    facts.moment
}

/// The total at that moment less what the line made in earlier steps.
fn release(facts: &Facts, held: Option<Bytes>, change: Change) -> Option<Remedy> {
    let held = held.filter(|held| *held > Bytes::ZERO)?;
    let before = facts.view?.live_total(facts.moment?);
    let (remedy, how) = change;
    Some(Remedy {
        remedy: remedy.to_owned(),
        standing: Standing::Estimated,
        before_bytes: Some(before),
        after_bytes: Some(before - held),
        how: format!("{how}; reckoned as the peak less what this line made in earlier steps"),
    })
}

/// What `line` made in steps before that of `at` and is alive then; `None` where the step is not known.
fn kept_at(view: &View, at: Moment, line: &Location) -> Option<Bytes> {
    let step = view.timeline.step(at.event()?)?;
    let mut here = std::collections::BTreeMap::new();
    let blocks = view.live_after(at).filter_map(|(life, contents)| {
        let made = view.step_of(life)?;
        let here = *here.entry(life.stack).or_insert_with(|| view.own_line(life.stack).as_ref() == Some(line));
        (made < step && here && !stays(contents)).then_some(life.block())
    });
    Some(blocks.sum())
}
