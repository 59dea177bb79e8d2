//! The rules: one file each, named after what it finds. A rule looks at the facts and finds something or nothing.
//!
//! # Note [Ranking]
//! A failed request lacks so many bytes. A cause accounts for so many: what would not be in the way without it. Those
//! that account for all that was lacking come first, then those for a part, most first. What a program merely needs
//! (its model, its batch) comes after what is in the way needlessly, and a cause that one instant's numbers only suggest
//! after one that the history shows. What the reason was stands in each finding's evidence.

mod allocator_setting_harmful;
mod batch_too_large;
mod cache_flushed;
mod caught_oom;
mod exception_holds_frames;
mod fragmentation;
mod grad_recorded_in_eval;
mod gradients_alive_in_forward;
mod growing_collection;
mod growth;
mod host_memory;
mod need_exceeds_device;
mod non_pytorch_memory;
mod one_huge_request;
mod optimizer_state;
mod other_process_memory;
mod rank_imbalance;
mod reference_cycle;
mod retained_graph;
mod saved_intermediates;
mod small_gpu_fraction;
mod unclear;
mod value_dependent_shape;
mod wrong_device;

pub(crate) use other_process_memory::others;
use report::{Evidence, Finding, Remedy, Standing, Value};
use trace::Bytes;

use crate::facts::Facts;

/// What a rule found.
#[derive(Clone, Debug)]
pub(crate) struct Cause {
    /// What is said of it.
    pub(crate) finding: Finding,
    /// What would be free, or not be asked for, without it; `None` where that is not known.
    pub(crate) bytes: Option<Bytes>,
    /// How it compares with others. See Note [Ranking].
    pub(crate) rank: Rank,
}

/// How a cause compares with others, the most telling first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// The surroundings or a setting are at fault: the program need not change.
    Setting,
    /// The program holds what it need not hold.
    Fault,
    /// What the program needs is more than there is.
    Need,
    /// Worth knowing.
    Aside,
    /// Nothing is known.
    Unclear,
}

type Rule = fn(&Facts) -> Option<Cause>;

/// The rules of `check`, the most telling first. Those about growth share one place: at most one of them finds anything.
const OF_A_CHECK: [Rule; 13] = [
    one_huge_request::find,
    fragmentation::find,
    retained_graph::find,
    growing_collection::find,
    saved_intermediates::find_growth,
    reference_cycle::find,
    need_exceeds_device::find,
    wrong_device::find,
    rank_imbalance::find,
    gradients_alive_in_forward::find,
    optimizer_state::find,
    cache_flushed::find,
    caught_oom::find,
];

/// The rules of `explain`; Note [Ranking] orders what they find.
const OF_A_CRASH: [Rule; 21] = [
    wrong_device::find,
    other_process_memory::find,
    small_gpu_fraction::find,
    non_pytorch_memory::find,
    host_memory::find,
    allocator_setting_harmful::find,
    rank_imbalance::find,
    one_huge_request::find,
    exception_holds_frames::find,
    reference_cycle::find,
    retained_graph::find,
    growing_collection::find,
    saved_intermediates::find,
    grad_recorded_in_eval::find,
    gradients_alive_in_forward::find,
    fragmentation::find,
    optimizer_state::find,
    batch_too_large::find,
    need_exceeds_device::find,
    caught_oom::find,
    cache_flushed::find,
];

/// What a check finds, the most serious first; among equals in the order of the rules.
pub(crate) fn of_a_check(facts: &Facts) -> Vec<Finding> {
    let causes = OF_A_CHECK.iter().filter_map(|rule| rule(facts));
    let mut findings: Vec<Finding> = causes.map(|cause| cause.finding).collect();
    findings.extend(value_dependent_shape::find(facts));
    findings.sort_by_key(|finding| finding.severity);
    findings
}

/// What an explanation finds, the most telling first. See Note [Ranking].
pub(crate) fn of_a_crash(facts: &Facts) -> Vec<Finding> {
    let missing = facts.failure.as_ref().and_then(crate::facts::Failure::missing);
    let mut causes: Vec<Cause> = OF_A_CRASH.iter().filter_map(|rule| rule(facts)).collect();
    if causes.iter().all(|cause| cause.rank == Rank::Aside) {
        causes.extend(unclear::find(facts));
    }
    causes.sort_by_key(|cause| {
        let decides = missing.is_none() || cause.bytes >= missing;
        (cause.finding.severity, cause.rank, !decides, std::cmp::Reverse(cause.bytes))
    });
    causes.into_iter().map(|cause| reasoned(cause, missing)).collect()
}

/// Adds the reason for its place to a cause's evidence.
fn reasoned(cause: Cause, missing: Option<Bytes>) -> Finding {
    let mut finding = cause.finding;
    if let (Some(bytes), Some(missing)) = (cause.bytes, missing.filter(|missing| *missing > Bytes::ZERO)) {
        let enough = if bytes >= missing { "all" } else { "a part" };
        let text = format!("{bytes}, {enough} of the {missing} that the request lacked");
        finding.evidence.push(Evidence {
            what: "accounts for".to_owned(),
            value: Value::Text(text),
            source: "ranking",
        });
    }
    finding
}

/// A fact that is an amount of memory.
fn bytes(what: &str, bytes: Bytes, source: &'static str) -> Evidence {
    Evidence { what: what.to_owned(), value: Value::Bytes(bytes), source }
}

/// A fact that is a number of things.
fn count(what: &str, count: u64, source: &'static str) -> Evidence {
    Evidence { what: what.to_owned(), value: Value::Count(count), source }
}

/// Something that helps elsewhere and was not measured here.
fn advice(remedy: &str, how: &str) -> Remedy {
    Remedy {
        remedy: remedy.to_owned(),
        standing: Standing::Advice,
        before_bytes: None,
        after_bytes: None,
        how: how.to_owned(),
    }
}
