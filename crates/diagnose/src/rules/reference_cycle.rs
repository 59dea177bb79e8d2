//! `reference-cycle`: tensors that refer to themselves, which only Python's garbage collector frees.
//!
//! What decides: the same line's tensors of several steps were freed all at once, between two allocations. A list of
//! them that the program clears now and then looks alike, which the evidence says.

use report::{Evidence, Finding, RuleId, Value};

use super::{Cause, Rank, advice, bytes, count};
use crate::facts::Facts;
use crate::measure::growth::Survivors;
use crate::measure::kept::{Kept, cycles};
use crate::measure::leaks::Burst;

/// Where its figures come from.
const SOURCE: &str = "lifetimes in the history";

pub(super) fn find(facts: &Facts) -> Option<Cause> {
    let view = facts.view.filter(|_| facts.kept == Some(Kept::Cycle))?;
    let line = facts.survivors.first()?;
    let burst = cycles(view, &line.stacks)?;
    let finding = Finding {
        rule: RuleId("reference-cycle"),
        severity: facts.severity(),
        message: format!(
            "{} tensors made here, {}, outlived their steps; earlier ones were freed {} at once, as by the garbage \
             collector",
            line.count, line.bytes, burst.count
        ),
        location: line.location.clone(),
        evidence: evidence(facts, line, &burst),
        remedies: vec![advice(
            "break the cycle, or let go of the tensor by hand",
            "a closure, a hook or an exception that an object holds refers back to it: use weakref, or set the attribute \
             to None when it is done; gc.collect() frees them, late",
        )],
    };
    Some(Cause { finding, bytes: Some(line.bytes), rank: Rank::Fault })
}

fn evidence(facts: &Facts, line: &Survivors, burst: &Burst) -> Vec<Evidence> {
    let stack = burst.event.and_then(|event| facts.view?.events.get(event.0 as usize)).map(|event| event.stack);
    let freed_at = stack.and_then(|stack| facts.view?.own_line(stack)).map(|freed| facts.at(&freed));
    let mut evidence = vec![
        bytes("alive of this line", line.bytes, SOURCE),
        bytes("freed at once", burst.bytes, SOURCE),
        count("steps whose tensors were freed at once", u64::try_from(burst.steps.len()).unwrap_or(u64::MAX), SOURCE),
    ];
    evidence.extend(freed_at.map(|at| Evidence {
        what: "freed at".to_owned(),
        value: Value::Text(format!("{at} (a collection of tensors that is cleared there would look the same)")),
        source: SOURCE,
    }));
    evidence
}
