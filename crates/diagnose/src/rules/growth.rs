//! Shared by the rules about growth: the finding, its evidence, and the estimate of its remedy.
//!
//! Each reason of growth is a rule, because the reason decides the remedy. (Earlier versions of `check` had one rule,
//! `growing-memory`.)

use causes::CauseId;
use report::{Evidence, Finding, Growth, Location, Remedy, Standing};
use trace::{Bytes, Moment};

use super::known::{Known, Source, bytes, count};
use super::rule::{Cause, Rank};
use crate::measure::growth::{Survivors, stays};
use crate::measure::life::Life;
use crate::measure::retention::Retention;
use crate::measure::view::View;
use crate::rules::input::{Facts, Pressure};

/// The evidence names at most this many lines.
const MAX_LINES: usize = 3;

/// A remedy in short, and its instructions.
pub(super) type Change = (&'static str, &'static str);

/// Finds growth whose reason is `retention`, for `rule`; `change` is the remedy.
pub(super) fn find_growth(facts: &Facts, retention: Retention, rule: CauseId, change: Change) -> Option<Cause> {
    let pressure = facts.pressure.as_ref().filter(|pressure| pressure.retention == retention)?;
    let (growth, view) = (&pressure.growth.value, facts.view?);
    let most = pressure.survivors.first();
    let all: Bytes = pressure.survivors.iter().map(|line| line.bytes).sum();
    let held = if growth.loop_at.is_some() {
        Some(all - growth.bytes_per_iteration)
    } else {
        growth.location.as_ref().zip(facts.moment()).and_then(|(line, at)| earlier_bytes(view, at, line))
    };
    let finding = Finding {
        rule,
        severity: facts.severity(),
        message: message(facts, growth, most, describe_keeper(retention)),
        location: growth.location.clone(),
        evidence: evidence(facts, pressure),
        remedies: release(facts, held, change).into_iter().collect(),
    };
    Some(Cause { finding, bytes: Some(all), rank: Rank::Fault })
}

fn describe_keeper(retention: Retention) -> &'static str {
    match retention {
        Retention::Cycle => "and freed only by the garbage collector",
        Retention::Graph => "and kept by an autograd graph",
        Retention::Intermediate => "inside a module and kept",
        Retention::Collection => "and kept",
    }
}

fn message(facts: &Facts, growth: &Growth, most: Option<&Survivors>, keeper: &str) -> String {
    let what = most.map_or_else(String::new, |line| match line.count {
        1 => format!("; most of it is 1 tensor allocated here {keeper}"),
        n => format!("; most of it is {n} tensors allocated here {keeper}"),
    });
    let unit = growth.unit();
    let full = growth.full_at.map_or_else(String::new, |at| format!(", so the device is full at {unit} {at}"));
    let of = growth.loop_at.as_ref().map_or_else(String::new, |at| format!(" of the loop at {}", facts.at(at)));
    format!("every {unit}{of} leaves {} behind{full}{what}", growth.bytes_per_iteration)
}

fn evidence(facts: &Facts, pressure: &Pressure) -> Vec<Evidence> {
    let Known { value: growth, source } = &pressure.growth;
    let mut evidence = vec![bytes(&format!("growth per {}", growth.unit()), growth.bytes_per_iteration, *source)];
    for survivor in pressure.survivors.iter().take(MAX_LINES) {
        let at = survivor.location.as_ref().map_or_else(|| "an unknown line".to_owned(), |line| facts.at(line));
        let when = if growth.loop_at.is_some() { "at the error" } else { "one step later" };
        let what = format!("allocated at {at} and alive {when}");
        evidence.push(bytes(&what, survivor.bytes, Source::TraceLifetimes));
    }
    if let Some(step) = growth.full_at {
        evidence.push(count(
            &format!("{} at which the device is full", growth.unit()),
            u64::from(step),
            Source::Forecast,
        ));
    }
    evidence
}

/// The remedy: the live total, less the bytes that the line allocated in earlier steps.
fn release(facts: &Facts, held: Option<Bytes>, change: Change) -> Option<Remedy> {
    let held = held.filter(|held| *held > Bytes::ZERO)?;
    let before = facts.view?.live_total(facts.moment()?);
    let (remedy, how) = change;
    Some(Remedy {
        remedy: remedy.to_owned(),
        standing: Standing::Estimated,
        before_bytes: Some(before),
        after_bytes: Some(before - held),
        how: format!("{how}; estimated as the peak less the memory that this line allocated in earlier steps"),
    })
}

/// The bytes that `line` allocated in steps before the step of `at` and that are alive then; `None` if the step is unknown.
fn earlier_bytes(view: &View, at: Moment, line: &Location) -> Option<Bytes> {
    let step = view.timeline.step(at.event_before()?)?;
    let mut here = std::collections::BTreeMap::new();
    let blocks = view.live_after(at).filter_map(|(life, contents)| {
        let made = view.step_of(life)?;
        let here = *here.entry(life.stack).or_insert_with(|| view.own_line(life.stack).as_ref() == Some(line));
        (made < step && here && !stays(contents)).then_some(life.block())
    });
    Some(blocks.sum())
}
