//! The rules of `check` and `explain`. One file is one rule, named after the pattern; a rule finds a cause in the facts or
//! nothing.
//!
//! # Note [Ranking]
//! A failed request lacks a number of bytes. A cause accounts for a number of bytes: the memory that would be free
//! without the cause. Causes that account for all missing bytes come first, then causes that account for a part, largest
//! first. The needs of the program (its model, its batch) rank after memory that is held needlessly, and a cause that the
//! numbers of one instant suggest ranks after a cause that the history shows. The evidence of each finding states the
//! reason.

mod growth;
pub(crate) mod input;
pub(crate) mod known;
pub(crate) mod replayed;
mod rule;
pub(crate) mod shared;

use causes::Role;
use report::{Finding, Severity};
use trace::Bytes;

use self::input::{Facts, Failure};
use self::known::{Source, text};
use self::rule::{Cause, Rank, Rule};

// make generate: rules
mod allocator_setting_harmful;
mod batch_too_large;
mod cache_flushed;
mod caught_oom;
mod exception_holds_frames;
mod fragmentation;
mod grad_recorded_in_eval;
mod gradients_alive_in_forward;
mod growing_collection;
mod host_memory;
mod mig;
mod need_exceeds_device;
mod non_pytorch_memory;
mod one_huge_request;
mod optimizer_state;
mod other_process_memory;
mod rank_imbalance;
mod reference_cycle;
mod retained_graph;
mod saved_intermediates;
mod shm;
mod small_gpu_fraction;
mod unclear;
mod value_dependent_shape;
mod wrong_device;
mod wsl;

/// The rules in the order of the table.
static RULES: &[Rule] = &[
    wrong_device::RULE,
    other_process_memory::RULE,
    small_gpu_fraction::RULE,
    mig::RULE,
    wsl::RULE,
    non_pytorch_memory::RULE,
    host_memory::RULE,
    shm::RULE,
    allocator_setting_harmful::RULE,
    rank_imbalance::RULE,
    one_huge_request::RULE,
    exception_holds_frames::RULE,
    reference_cycle::RULE,
    retained_graph::RULE,
    growing_collection::RULE,
    saved_intermediates::RULE,
    grad_recorded_in_eval::RULE,
    gradients_alive_in_forward::RULE,
    fragmentation::RULE,
    optimizer_state::RULE,
    batch_too_large::RULE,
    need_exceeds_device::RULE,
    caught_oom::RULE,
    cache_flushed::RULE,
    value_dependent_shape::RULE,
    unclear::RULE,
];
// end: rules

/// Returns the findings of `check`, most severe first, then by the causes' roles.
pub(crate) fn of_a_check(facts: &Facts) -> Vec<Finding> {
    let mut findings: Vec<Finding> = find_causes(facts).into_iter().map(|cause| weigh(cause, facts)).collect();
    findings.sort_by_key(|finding| (finding.severity, finding.rule.role()));
    findings
}

/// Asks every rule. The rules that say what is unclear count only without a cause.
fn find_causes(facts: &Facts) -> Vec<Cause> {
    let mut causes: Vec<Cause> = RULES.iter().flat_map(|rule| rule.causes(facts)).collect();
    if causes.iter().any(|cause| cause.rank < Rank::Aside) {
        causes.retain(|cause| cause.rank != Rank::Unclear);
    }
    causes
}

/// A warning is about 1/200 of the device at least; less is a remark.
const LEAST_SHARE: u64 = 200;

/// Returns the finding of a cause; a warning about little memory becomes a remark.
fn weigh(cause: Cause, facts: &Facts) -> Finding {
    let is_small = cause.finding.severity == Severity::Warning && !is_large(&cause, facts);
    let mut finding = cause.finding;
    if is_small {
        finding.severity = Severity::Info;
    }
    finding
}

fn is_large(cause: &Cause, facts: &Facts) -> bool {
    let grows = facts.pressure.as_ref().filter(|_| cause.finding.rule.role() == Role::Growth);
    match (grows, cause.bytes, &facts.device.total) {
        (Some(pressure), ..) => !pressure.growth.value.is_harmless(),
        (None, Some(bytes), Some(total)) => bytes.0.saturating_mul(LEAST_SHARE) >= total.nearest().0,
        _ => true,
    }
}

/// Returns the findings of `explain`, most telling first. See Note [Ranking].
pub(crate) fn of_a_crash(facts: &Facts) -> Vec<Finding> {
    let missing = facts.failure.as_ref().and_then(Failure::missing);
    let mut causes = find_causes(facts);
    causes.sort_by_key(|cause| {
        let decides = missing.is_none() || cause.bytes >= missing;
        (cause.finding.severity, cause.rank, !decides, std::cmp::Reverse(cause.bytes))
    });
    causes.into_iter().map(|cause| add_reason(cause, missing)).collect()
}

/// Adds the reason for a cause's position to its evidence.
fn add_reason(cause: Cause, missing: Option<Bytes>) -> Finding {
    let mut finding = cause.finding;
    if let (Some(bytes), Some(missing)) = (cause.bytes, missing.filter(|missing| *missing > Bytes::ZERO)) {
        let share = if bytes >= missing { "all" } else { "a part" };
        let share = format!("{bytes}, {share} of the {missing} that the request lacked");
        finding.evidence.push(text("accounts for", share, Source::Ranking));
    }
    finding
}
