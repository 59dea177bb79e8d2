//! Shared by the rules about growth: the finding, its evidence, and the estimate of its remedy.
//!
//! Each reason of growth is a rule, because the reason decides the remedy. (Earlier versions of `check` had one rule,
//! `growing-memory`.)

use causes::CauseId;
use report::render::phrases::describe_growth;
use report::{Evidence, Finding, Remedy};
use trace::Bytes;
use trace::run::GradientGraphRecord;

use super::held::explains_growth;
use crate::measure::retention::Retention;
use crate::rules::advice::advice;
use crate::rules::facts::input::{Facts, Pressure};
use crate::rules::facts::known::{Known, Source, bytes, count};
use crate::rules::rule::removal::Removal;
use crate::rules::rule::{Cause, Rank};

/// The evidence names at most this many lines.
const MAX_LINES: usize = 3;

/// A remedy in short, and its instructions.
pub(in crate::rules) type Remedied = (&'static str, &'static str);

/// Finds growth whose reason is `retention`, for `rule`; `change` is the remedy.
pub(in crate::rules) fn find_growth(
    facts: &Facts,
    retention: Retention,
    rule: CauseId,
    change: Remedied,
) -> Option<Cause> {
    let pressure = facts.pressure.as_ref().filter(|pressure| pressure.retention == retention)?;
    // A holder that was seen says more than the kind of the tensors.
    if explains_growth(facts) || find_gradient_graph(facts).is_some() {
        return None;
    }
    let growth = &pressure.growth.value;
    let all: Bytes = pressure.survivors.iter().map(|line| line.bytes).sum();
    let finding = Finding {
        without: None,
        rule,
        severity: facts.severity(),
        message: describe_growth(growth, Some(rule), None, |at| facts.at(at)),
        location: growth.location.clone(),
        evidence: evidence(facts, pressure),
        remedies: vec![release(change)],
    };
    let cause = Cause { finding, bytes: Some(all), rank: Rank::Fault, removal: None };
    Some(cause.with_removal(Removal::free_after(pressure.kept.iter().copied())))
}

/// Returns growth of gradients with a graph, where no container keeps the tensors, with the call that made the graph.
pub(in crate::rules) fn find_gradient_graph<'f>(facts: &'f Facts) -> Option<(&'f Pressure, &'f GradientGraphRecord)> {
    let pressure = facts.pressure.as_ref().filter(|pressure| pressure.growth.value.keeper.is_none())?;
    Some((pressure, facts.view?.trace.process.gradient_graphs.first()?))
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

fn release((remedy, how): Remedied) -> Remedy {
    let how = format!("{how}; replayed as if each of these tensors were freed at the end of its own iteration");
    advice(remedy, &how)
}
