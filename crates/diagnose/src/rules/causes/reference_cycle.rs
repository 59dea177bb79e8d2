//! `reference-cycle`: tensors in reference cycles, which only Python's garbage collector frees.
//!
//! Role growth, order 130.
//!
//! Evidence: tensors of one line and several steps were freed at once, between two allocations. A list of tensors that the
//! program clears now and then looks the same; the evidence says so. A gradient with a graph of its own, from `backward(create_graph=True)`,
//! refers to the graph, and the graph to the tensor that has the gradient: no collector sees the cycle.

use causes::CauseId;
use report::{Evidence, Finding, Location, Remedy, Severity};
use trace::Bytes;

use crate::measure::growth::Survivors;
use crate::measure::leaks::Burst;
use crate::measure::retention::{Retention, cycles};
use crate::rules::advice::advice;
use crate::rules::facts::input::Facts;
use crate::rules::facts::known::{Source, bytes, count, text};
use crate::rules::families::growth::find_gradient_graph;
use crate::rules::families::held::Held;
use crate::rules::rule::removal::Removal;
use crate::rules::rule::{Cause, Check, Rank, Rule};

const SOURCE: Source = Source::Lifetimes;

pub(super) const RULE: Rule = Rule { cause: CauseId::ReferenceCycle, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    find_unreachable(facts).or_else(|| find_graph_of_gradients(facts)).or_else(|| find_burst(facts))
}

/// Finds growth of a program whose gradients have a graph.
fn find_graph_of_gradients(facts: &Facts) -> Option<Cause> {
    let (pressure, call) = find_gradient_graph(facts)?;
    let growth = &pressure.growth.value;
    let location = Location { file: call.file.clone(), line: call.line, column: None };
    let held: Bytes = pressure.survivors.iter().map(|line| line.bytes).sum();
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: facts.severity(),
        message: "backward(create_graph=True) makes cycles of gradients and their graphs, which nothing frees"
            .to_owned(),
        location: Some(location),
        evidence: vec![
            bytes(&format!("growth per {}", growth.unit()), growth.bytes_per_iteration, pressure.growth.source),
            bytes("allocated in one and alive in the next", held, Source::TraceLifetimes),
        ],
        remedies: vec![advice(
            "use torch.autograd.grad(..., create_graph=True)",
            "it returns the gradients and stores none in .grad; else set .grad of every tensor to None after use. Replayed as if each of these \
             tensors were freed at the end of its own iteration",
        )],
    };
    let cause = Cause { finding, bytes: Some(held), rank: Rank::Fault, removal: None };
    Some(cause.with_removal(Removal::free_after(pressure.kept.iter().copied())))
}

/// Finds tensors at an error that nothing but cycles refers to: the agent asked the garbage collector.
fn find_unreachable(facts: &Facts) -> Option<Cause> {
    let held = Held::by(facts, "cycle")?;
    let (total, tensors) = (held.bytes, u64::try_from(held.lives.len()).unwrap_or(u64::MAX));
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: Severity::Error,
        message: format!("{total} are kept by nothing but reference cycles, and the garbage collector has not run"),
        location: held.location.clone(),
        evidence: vec![
            bytes("alive and unreachable", total, Source::LiveAtError),
            count("tensors", tensors, Source::LiveAtError),
        ],
        remedies: vec![break_the_cycle()],
    };
    let cause = Cause { finding, bytes: Some(total), rank: Rank::Fault, removal: None };
    Some(cause.with_removal(held.freed(facts)))
}

fn break_the_cycle() -> Remedy {
    advice(
        "break the cycle, or delete the tensor explicitly",
        "a child that refers to its parent, a closure, a hook or an exception that an object holds refers back to the object: use weakref, or \
         set the attribute to None after use; gc.collect() frees the tensors, late, and not after gc.disable()",
    )
}

fn find_burst(facts: &Facts) -> Option<Cause> {
    let pressure = facts.pressure.as_ref().filter(|pressure| pressure.retention == Retention::Cycle)?;
    let (view, line) = (facts.view?, pressure.survivors.first()?);
    let burst = cycles(view, &line.stacks)?;
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: facts.severity(),
        message: format!(
            "{} tensors allocated here ({}) outlived their steps; earlier tensors were freed {} at once, as the garbage \
             collector does",
            line.count, line.bytes, burst.count
        ),
        location: line.location.clone(),
        evidence: evidence(facts, line, &burst),
        remedies: vec![break_the_cycle()],
    };
    Some(Cause { finding, bytes: Some(line.bytes), rank: Rank::Fault, removal: None })
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
