//! `small-gpu-fraction`: a memory fraction set for this process makes the device smaller than its memory.
//!
//! Role surroundings, order 30.

use causes::CauseId;
use report::{Finding, Remedy, Severity};

use super::input::Facts;
use super::rule::{Cause, Check, Rank, Rule, When};
use super::shared::{SEGMENT_SLACK, advice, bytes};

pub(super) const RULE: Rule =
    Rule { cause: CauseId::SmallGpuFraction, when: When::Explain, check: Check::One(find_fraction) };

/// Finds a fraction that the error states, or that a refusal with enough free memory implies.
pub(super) fn find_fraction(facts: &Facts) -> Option<Cause> {
    stated_fraction(facts).or_else(|| implied_fraction(facts))
}

/// The allocator refused a request although the device had enough free memory; only a fraction explains the refusal.
fn implied_fraction(facts: &Facts) -> Option<Cause> {
    let failure = facts.failure.as_ref().filter(|failure| facts.fatal && failure.is_allocators())?;
    failure.event?; // A message names the fraction itself.
    let (free, requested) = (failure.free?.nearest, failure.requested?.nearest);
    let reserved = failure.reserved?.nearest;
    if free < requested + SEGMENT_SLACK {
        return None;
    }
    let finding = Finding {
        rule: RULE.cause,
        severity: facts.severity(),
        message: format!("{requested} was refused with {reserved} reserved and {free} free: a memory fraction is set"),
        location: None,
        evidence: vec![
            bytes("free on the device", free, failure.request_source),
            bytes("requested", requested, failure.request_source),
            bytes("reserved", reserved, failure.counters_source),
        ],
        remedies: vec![raise_the_fraction()],
    };
    Some(Cause { finding, bytes: Some(free), rank: Rank::Setting })
}

fn raise_the_fraction() -> Remedy {
    advice(
        "raise the fraction",
        "torch.cuda.set_per_process_memory_fraction(1.0), or per_process_memory_fraction in PYTORCH_CUDA_ALLOC_CONF",
    )
}

fn stated_fraction(facts: &Facts) -> Option<Cause> {
    let failure = facts.failure.as_ref()?;
    let (allowed, total) = (failure.allowed?.nearest, facts.device.total?.nearest);
    let requested = failure.requested?.nearest;
    // Without the fraction the process could reserve all free memory of the device.
    let more = (total - allowed).min(failure.free?.nearest);
    let decides = requested <= failure.free?.nearest;
    let finding = Finding {
        rule: RULE.cause,
        severity: if decides { facts.severity() } else { Severity::Warning },
        message: format!("this process may use {allowed} of the device's {total}"),
        location: None,
        evidence: vec![
            bytes("allowed", allowed, failure.counters_source),
            bytes("device", total, failure.counters_source),
            bytes("free on the device", failure.free?.nearest, failure.counters_source),
            bytes("requested", requested, failure.request_source),
        ],
        remedies: vec![raise_the_fraction()],
    };
    Some(Cause { finding, bytes: Some(more), rank: Rank::Setting })
}
