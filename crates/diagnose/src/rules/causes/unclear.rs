//! `unclear`: the evidence does not decide between causes.
//!
//! Role unclear, order 260.
//!
//! The finding says what to record next.

use causes::CauseId;
use report::{Evidence, Finding, Location, Remedy, Severity};
use trace::text::OomKind;

use crate::rules::advice::advice;
use crate::rules::facts::input::{Facts, Failure};
use crate::rules::facts::known::{Known, Source, bytes, count, text};
use crate::rules::facts::sizes::is_contradiction;
use crate::rules::rule::{Cause, Check, Rank, Rule};

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
    let waiting = counters
        .active_bytes
        .zip(counters.allocated_bytes)
        .map(|(active, allocated)| active.nearest - allocated.nearest);
    let waiting = waiting
        .zip(counters.reserved_bytes)
        .filter(|(waiting, reserved)| waiting.0.saturating_mul(4) >= reserved.nearest.0);
    let message = match waiting {
        Some((waiting, _)) => format!(
            "out of memory with {waiting} that are freed and still active: they wait for other streams (record_stream) and serve no request"
        ),
        None => "the table counts out-of-memory errors and does not state the requested size".to_owned(),
    };
    Some(finding(Severity::Warning, message, None, evidence))
}

fn finding(severity: Severity, message: String, location: Option<Location>, evidence: Vec<Evidence>) -> Finding {
    Finding { without: None, rule: RULE.cause, severity, message, location, evidence, remedies: record_more() }
}

/// Returns the ways to learn more about a crash.
pub(in crate::rules) fn record_more() -> Vec<Remedy> {
    vec![
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
    ]
}

/// The place of particular advice: before the general, and behind the advice of an unclear message's figures.
pub(in crate::rules) fn place_of_advice(cause: &Cause) -> usize {
    let general = record_more();
    let is_general = |remedy: &Remedy| general.iter().any(|other| other.remedy == remedy.remedy);
    match cause.finding.rule {
        CauseId::Unclear => cause.finding.remedies.iter().position(is_general).unwrap_or_default(),
        _ => 0,
    }
}

/// The answer to an error without the figures that decide: what was refused, and what shows who holds the device.
pub(in crate::rules) fn of_message(facts: &Facts, failure: &Failure) -> Cause {
    let who = match failure.kind {
        OomKind::DeviceCall => "a CUDA call outside PyTorch's allocator was",
        OomKind::Context => "a new CUDA context was",
        OomKind::Cublas => "cuBLAS was",
        OomKind::Cudnn => "cuDNN was",
        OomKind::MathLibrary => "a CUDA math library was",
        OomKind::Nccl => "NCCL was",
        _ => "PyTorch's allocator was",
    };
    let what = failure.requested.map_or_else(|| "device memory".to_owned(), |size| size.nearest().to_string());
    let message = contradiction(facts, failure)
        .unwrap_or_else(|| format!("{who} refused {what}, and the text does not say who holds the device's memory"));
    let mut finding = finding(facts.severity(), message, failure.location.clone(), evidence(facts, failure));
    finding.remedies.insert(0, super::other_process_memory::list_holders(failure.framework));
    if !failure.is_allocators() {
        finding.remedies.insert(1, leave_room());
    }
    Cause { finding, bytes: None, rank: Rank::Unclear, removal: None }
}

/// The sentence about figures that cannot all be true.
fn contradiction(facts: &Facts, failure: &Failure) -> Option<String> {
    let total = facts.device.total?.nearest();
    let (free, allocated) = (failure.free?.nearest(), failure.allocated?.nearest());
    let reserved = failure.reserved.map_or(allocated, Known::nearest);
    is_contradiction(total, free, allocated, reserved).then(|| {
        format!(
            "the message's figures contradict each other: {allocated} allocated of {reserved} reserved, and {free} free, on a device of {total}"
        )
    })
}

fn leave_room() -> Remedy {
    advice(
        "leave memory for libraries",
        "torch.cuda.set_per_process_memory_fraction below 1 keeps PyTorch's cache from filling the device; create handles early (a small matmul, \
         a first all_reduce) before the cache has grown",
    )
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
