//! `unclear`: the evidence does not decide between causes.
//!
//! Role unclear, order 260.
//!
//! The finding says what to record next.

use causes::CauseId;
use report::{Evidence, Finding, Location, Severity};

use super::input::{Facts, Failure};
use super::known::{Known, Source, bytes, count, text};
use super::rule::{Cause, Check, Rank, Rule};
use super::shared::advice;

pub(super) const RULE: Rule = Rule { cause: CauseId::Unclear, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    let finding = find_in_error(facts).or_else(|| find_in_table(facts))?;
    Some(Cause { finding, bytes: None, rank: Rank::Unclear, removal: None })
}

fn find_in_error(facts: &Facts) -> Option<Finding> {
    let failure = facts.failure.as_ref().filter(|failure| failure.is_fatal && facts.need.is_none())?;
    let (message, location) = (message(facts).to_owned(), failure.location.clone());
    Some(finding(facts.severity(), message, location, evidence(facts, failure)))
}

/// PyTorch's table states the number of errors and nothing else about them.
fn find_in_table(facts: &Facts) -> Option<Finding> {
    let Known { value: counters, source } = facts.counters?;
    let ooms = counters.ooms.filter(|&ooms| ooms > 0)?;
    let stated = [
        ("allocated", counters.allocated_bytes),
        ("peak allocated", counters.allocated_peak_bytes),
        ("reserved", counters.reserved_bytes),
        ("inactive splits", counters.inactive_split_bytes),
    ];
    let mut evidence = vec![count("out-of-memory errors", ooms, source)];
    evidence.extend(stated.iter().filter_map(|&(what, size)| Some(bytes(what, size?.nearest, source))));
    let message = "the table counts out-of-memory errors and does not state the requested size".to_owned();
    Some(finding(Severity::Warning, message, None, evidence))
}

fn finding(severity: Severity, message: String, location: Option<Location>, evidence: Vec<Evidence>) -> Finding {
    Finding {
        without: None,
        rule: RULE.cause,
        severity,
        message,
        location,
        evidence,
        remedies: vec![
            advice(
                "check the program with a dry run, which needs no GPU",
                "oomph check --gpu NAME SCRIPT ARGS shows what fills the memory, line by line",
            ),
            advice(
                "record a snapshot when memory runs out",
                "at the top of the script: import torch; torch.cuda.memory._record_memory_history(); and around main(): \
                 except torch.OutOfMemoryError: torch.cuda.memory._dump_snapshot(\"oom.pickle\"); raise. Then: oomph explain \
                 oom.pickle",
            ),
        ],
    }
}

fn message(facts: &Facts) -> &'static str {
    match facts.view {
        None => "the error's text does not show what fills the memory",
        Some(view) if view.trace.snapshot.is_some_and(|snapshot| snapshot.stacks.is_empty()) => {
            "the history has no stacks and does not show what fills the memory"
        }
        Some(_) => "the history does not show why the request failed",
    }
}

fn evidence(facts: &Facts, failure: &Failure) -> Vec<Evidence> {
    let stated = [
        ("requested", failure.requested),
        ("device", facts.device.total),
        ("free", failure.free),
        ("allocated", failure.allocated),
        ("reserved", failure.reserved),
    ];
    let mut evidence: Vec<Evidence> = stated.iter().filter_map(|&(what, size)| Some(size?.row(what))).collect();
    if evidence.is_empty() {
        evidence.push(text("the error", failure.message.clone(), Source::Message));
    }
    evidence
}
