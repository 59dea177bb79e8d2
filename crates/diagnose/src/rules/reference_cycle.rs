//! `reference-cycle`: tensors in reference cycles, which only Python's garbage collector frees.
//!
//! Role growth, order 130.
//!
//! Evidence: tensors of one line and several steps were freed at once, between two allocations. A list of tensors that the
//! program clears now and then looks the same; the evidence says so.

use causes::CauseId;
use report::{Evidence, Finding};

use super::input::Facts;
use super::known::{Source, bytes, count, text};
use super::rule::{Cause, Check, Rank, Rule};
use super::shared::advice;
use crate::measure::growth::Survivors;
use crate::measure::leaks::Burst;
use crate::measure::retention::{Retention, cycles};

const SOURCE: Source = Source::Lifetimes;

pub(super) const RULE: Rule = Rule { cause: CauseId::ReferenceCycle, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    let pressure = facts.pressure.as_ref().filter(|pressure| pressure.retention == Retention::Cycle)?;
    let (view, line) = (facts.view?, pressure.survivors.first()?);
    let burst = cycles(view, &line.stacks)?;
    let finding = Finding {
        rule: RULE.cause,
        severity: facts.severity(),
        message: format!(
            "{} tensors allocated here ({}) outlived their steps; earlier tensors were freed {} at once, as the garbage \
             collector does",
            line.count, line.bytes, burst.count
        ),
        location: line.location.clone(),
        evidence: evidence(facts, line, &burst),
        remedies: vec![advice(
            "break the cycle, or delete the tensor explicitly",
            "a closure, a hook or an exception that an object holds refers back to the object: use weakref, or set the \
             attribute to None after use; gc.collect() frees the tensors, late",
        )],
    };
    Some(Cause { finding, bytes: Some(line.bytes), rank: Rank::Fault })
}

fn evidence(facts: &Facts, line: &Survivors, burst: &Burst) -> Vec<Evidence> {
    let stack = burst.event.and_then(|event| facts.view?.trace.events.get(event.0 as usize)).map(|event| event.stack);
    let freed_at = stack.and_then(|stack| facts.view?.own_line(stack)).map(|freed| facts.at(&freed));
    let mut evidence = vec![
        bytes("allocated at this line and alive", line.bytes, SOURCE),
        bytes("freed at once", burst.bytes, SOURCE),
        count("steps whose tensors were freed at once", u64::try_from(burst.steps.len()).unwrap_or(u64::MAX), SOURCE),
    ];
    let look_alike = |at| format!("{at} (a collection of tensors that is cleared there would look the same)");
    evidence.extend(freed_at.map(|at| text("freed at", look_alike(at), SOURCE)));
    evidence
}
