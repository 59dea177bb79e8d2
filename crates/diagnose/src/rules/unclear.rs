//! `unclear`: the evidence does not decide, and what to record next.

use report::{Evidence, Finding, Location, RuleId, Severity, Value};

use super::{Cause, Rank, advice, bytes, count};
use crate::facts::{Facts, Failure};

/// Said where nothing else explains the error.
pub(super) fn find(facts: &Facts) -> Option<Cause> {
    let finding = of_error(facts).or_else(|| of_table(facts))?;
    Some(Cause { finding, bytes: None, rank: Rank::Unclear })
}

fn of_error(facts: &Facts) -> Option<Finding> {
    let failure = facts.failure.as_ref().filter(|_| facts.fatal)?;
    let (message, location) = (message(facts).to_owned(), failure.location.clone());
    Some(finding(facts.severity(), message, location, evidence(facts, failure)))
}

/// PyTorch's table counts errors and says nothing else of them.
fn of_table(facts: &Facts) -> Option<Finding> {
    let counters = facts.counters?;
    let ooms = counters.ooms.filter(|&ooms| ooms > 0)?;
    let stated = [
        ("allocated", counters.allocated_bytes),
        ("allocated at most", counters.allocated_peak_bytes),
        ("reserved", counters.reserved_bytes),
        ("free in segments that are in use", counters.inactive_split_bytes),
    ];
    let mut evidence = vec![count("out-of-memory errors", ooms, counters.source)];
    evidence.extend(stated.iter().filter_map(|&(what, size)| Some(bytes(what, size?.nearest, counters.source))));
    let message = "the table counts out-of-memory errors and does not say what was asked for".to_owned();
    Some(finding(Severity::Warning, message, None, evidence))
}

fn finding(severity: Severity, message: String, location: Option<Location>, evidence: Vec<Evidence>) -> Finding {
    Finding {
        rule: RuleId("unclear"),
        severity,
        message,
        location,
        evidence,
        remedies: vec![
            advice(
                "run it on a phantom GPU, which needs no device",
                "oomph check --gpu NAME SCRIPT ARGS says what fills the memory, with lines",
            ),
            advice(
                "record a snapshot when it runs out",
                "at the top of the script: import torch; torch.cuda.memory._record_memory_history(); and around main(): \
                 except torch.OutOfMemoryError: torch.cuda.memory._dump_snapshot(\"oom.pickle\"); raise. Then: oomph explain \
                 oom.pickle",
            ),
        ],
    }
}

fn message(facts: &Facts) -> &'static str {
    match facts.view {
        None => "the error's text does not say what fills the memory",
        Some(view) if view.snapshot.is_some_and(|snapshot| snapshot.stacks.is_empty()) => {
            "the history has no stacks, so that it does not say what fills the memory"
        }
        Some(_) => "the history does not decide why the request failed",
    }
}

fn evidence(facts: &Facts, failure: &Failure) -> Vec<Evidence> {
    let stated = [
        ("requested", failure.requested, failure.request_source),
        ("device", facts.device.total, failure.counters_source),
        ("free", failure.free, failure.counters_source),
        ("allocated", failure.allocated, failure.counters_source),
        ("reserved", failure.reserved, failure.counters_source),
    ];
    let mut evidence: Vec<Evidence> =
        stated.iter().filter_map(|&(what, size, source)| Some(bytes(what, size?.nearest, source))).collect();
    if evidence.is_empty() {
        let value = Value::Text(failure.message.clone());
        evidence.push(Evidence { what: "the error".to_owned(), value, source: failure.request_source });
    }
    evidence
}
