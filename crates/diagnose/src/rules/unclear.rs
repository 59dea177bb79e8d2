//! `unclear`: the evidence does not decide, and what to record next.

use report::{Evidence, Finding, RuleId, Value};

use super::{Cause, Rank, advice, bytes};
use crate::facts::{Facts, Failure};

/// Said where nothing else explains the error.
pub(super) fn find(facts: &Facts) -> Option<Cause> {
    let failure = facts.failure.as_ref().filter(|_| facts.fatal)?;
    let finding = Finding {
        rule: RuleId("unclear"),
        severity: facts.severity(),
        message: message(facts).to_owned(),
        location: failure.location.clone(),
        evidence: evidence(facts, failure),
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
    };
    Some(Cause { finding, bytes: None, rank: Rank::Unclear })
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
