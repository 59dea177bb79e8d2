//! `fragmentation`: the allocator held enough free memory for the request, in pieces that were each too small.

use report::{Finding, Remedy, RuleId, Severity, Value};
use trace::Bytes;

use super::{Cause, Rank, advice, bytes};
use crate::facts::{Facts, Failure};
use crate::replayed::Replayable;

/// In a table without a request: so much of what is reserved lies free in segments that are in use, one part in so many.
const SPLIT: u64 = 4;

pub(super) fn find(facts: &Facts) -> Option<Cause> {
    if facts.failure.is_some() { of_request(facts) } else { of_table(facts) }
}

/// PyTorch's table after an error says how much it could not give back, and not what was asked for.
fn of_table(facts: &Facts) -> Option<Cause> {
    let counters = facts.counters.filter(|counters| counters.ooms.is_some_and(|ooms| ooms > 0))?;
    let (reserved, split) = (counters.reserved_bytes?.nearest, counters.inactive_split_bytes?.nearest);
    if split == Bytes::ZERO || split.0.saturating_mul(SPLIT) < reserved.0 {
        return None;
    }
    let allocated = counters.allocated_bytes.map(|allocated| allocated.nearest);
    let mut evidence = vec![
        bytes("reserved", reserved, counters.source),
        bytes("free in segments that are in use", split, counters.source),
    ];
    evidence.extend(allocated.map(|allocated| bytes("allocated", allocated, counters.source)));
    let finding = Finding {
        rule: RuleId("fragmentation"),
        severity: Severity::Warning,
        message: format!(
            "it ran out of memory with {split} of {reserved} free in pieces that could not be given back; what was asked \
             for is not stated"
        ),
        location: None,
        evidence,
        remedies: vec![expandable()],
    };
    Some(Cause { finding, bytes: Some(split), rank: Rank::Fault })
}

fn of_request(facts: &Facts) -> Option<Cause> {
    let failure = facts.failure.as_ref().filter(|failure| facts.fatal && failure.is_allocators())?;
    let (requested, cached) = (failure.requested?, failure.cached()?);
    let certain = cached.lowest >= requested.highest;
    let (requested, cached) = (requested.nearest, cached.nearest);
    let served = failure.largest_free.is_some_and(|largest| largest >= requested);
    if requested == Bytes::ZERO || !certain || served {
        return None;
    }
    let mut evidence = evidence(failure, requested);
    let remedies = remedies(facts, &mut evidence);
    let finding = Finding {
        rule: RuleId("fragmentation"),
        severity: Severity::Error,
        message: format!(
            "{cached} was reserved and free when {requested} could not be had: no free block was large enough"
        ),
        location: failure.location.clone(),
        evidence,
        remedies,
    };
    Some(Cause { finding, bytes: Some(cached), rank: Rank::Fault })
}

/// Expandable segments, replayed where there is a history. `check` offers nothing that was not.
fn remedies(facts: &Facts, evidence: &mut Vec<report::Evidence>) -> Vec<Remedy> {
    let replayable = facts.view.and_then(Replayable::of);
    match replayable.map(|replayable| replayable.with(|settings| settings.expandable_segments = true)) {
        Some(change) if change.helps() => vec![change.remedy(EXPANDABLE, SETTING)],
        Some(_) => {
            let (what, found) = ("with expandable_segments:True", "the request still fails");
            let value = Value::Text(found.to_owned());
            evidence.push(report::Evidence { what: what.to_owned(), value, source: "the recorded requests, replayed" });
            vec![advice("other allocator settings", "oomph tune SNAPSHOT replays the history under each of them")]
        }
        None if facts.explains => vec![expandable()],
        None => Vec::new(),
    }
}

const EXPANDABLE: &str = "expandable segments";
const SETTING: &str = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True before the first CUDA call (2.1 and later)";

fn expandable() -> Remedy {
    advice(
        EXPANDABLE,
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True before the first CUDA call (2.1 and later). max_split_size_mb, which \
         older messages name, helps only where large blocks were split for small requests",
    )
}

fn evidence(failure: &Failure, requested: Bytes) -> Vec<report::Evidence> {
    let counters = failure.counters_source;
    let counted = [("reserved", failure.reserved), ("allocated", failure.allocated)];
    let mut evidence: Vec<_> =
        counted.iter().filter_map(|&(what, size)| Some(bytes(what, size?.nearest, counters))).collect();
    evidence.push(bytes("requested", requested, failure.request_source));
    evidence.extend(failure.largest_free.map(|largest| bytes("largest free block", largest, counters)));
    evidence
}
