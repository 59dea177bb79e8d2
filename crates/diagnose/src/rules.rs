//! The rules of `check` and `explain`. One file of `causes` is one rule, named after the pattern; a rule finds a cause in the facts or
//! nothing. `facts` are a rule's input, `families` the parts that several rules share, `proof` replays a history without a cause, `messages` decides
//! about texts without a history, and `advice` has tables of text.
//!
//! # Note [Ranking]
//! Where the history was replayed without some of the causes (Note [Proofs] in `proof.rs`), those come first without which the failed request
//! is served: settings, the program's own mistakes, then its needs, and of each the cause that frees most. A mistake of a constant size counts
//! only if the need without it fits the device. The others follow by the bytes that they free.
//!
//! Without a replay the numbers decide. A failed request lacks a number of bytes. A cause accounts for a number of bytes: the memory that would be free
//! without the cause. Causes that account for all missing bytes come first, then causes that account for a part, largest
//! first. The needs of the program (its model, its batch) rank after memory that is held needlessly, and a cause that the
//! numbers of one instant suggest ranks after a cause that the history shows. The evidence of each finding states the
//! reason.

mod advice;
mod causes;
pub(crate) mod facts;
mod families;
mod messages;
pub(crate) mod proof;
mod rule;

use std::cmp::Reverse;

use ::causes::{CauseId, Role};
use rayon::prelude::*;
use report::{Finding, Severity};
use trace::Bytes;

use self::causes::RULES;
use self::facts::input::{Facts, Failure};
use self::facts::known::{Known, Source, text};
use self::proof::{Prover, saving};
use self::rule::removal::AtNeed;
use self::rule::{Cause, Rank};

/// The findings of a report, most telling first.
pub(crate) struct Findings {
    pub(crate) all: Vec<Finding>,
    /// The cause of the first finding, if the failed request would be served without it and the program need not do the same with less.
    pub(crate) mistake: Option<CauseId>,
}

/// Returns the findings of `check`, by their severity if no request failed. See Note [Ranking].
pub(crate) fn of_a_check(facts: &Facts) -> Findings {
    if facts.is_fatal() {
        return of_a_failure(facts);
    }
    let causes = prove_all(find_causes(facts), facts);
    let mut findings: Vec<Finding> = causes.into_iter().map(|cause| weigh(cause, facts)).collect();
    findings.sort_by_key(|finding| (finding.severity, finding.rule.role()));
    Findings { all: findings, mistake: None }
}

/// Returns the findings of `explain`. See Note [Ranking].
pub(crate) fn of_a_crash(facts: &Facts) -> Vec<Finding> {
    of_a_failure(facts).all
}

/// The causes that name the operation of the refused request.
const OF_AN_OPERATION: [CauseId; 4] =
    [CauseId::AttentionMatrix, CauseId::OneHotOfVocabulary, CauseId::PairwiseByBroadcasting, CauseId::VocabularyLogits];

/// Asks every rule. The rules that say what is unclear count only without a cause.
fn find_causes(facts: &Facts) -> Vec<Cause> {
    let causes = RULES.iter().flat_map(|rule| rule.causes(facts)).collect();
    let mut causes: Vec<Cause> = messages::decide(causes, facts);
    if causes.iter().any(|cause| cause.rank < Rank::Aside) {
        causes.retain(|cause| cause.rank != Rank::Unclear);
    }
    // The operation that made a huge request says more than its size.
    if causes.iter().any(|cause| OF_AN_OPERATION.contains(&cause.finding.rule)) {
        causes.retain(|cause| cause.finding.rule != CauseId::OneHugeRequest);
    }
    causes
}

/// Adds the proofs to the causes with a change.
fn prove_all(mut causes: Vec<Cause>, facts: &Facts) -> Vec<Cause> {
    let is_provable = causes.iter().any(|cause| cause.removal.is_some());
    let prover = facts.view.zip(facts.moment()).filter(|_| is_provable).and_then(|(view, at)| Prover::of(view, at));
    if let Some(prover) = prover {
        causes.par_iter_mut().for_each(|cause| prover.prove(cause));
    }
    causes
}

/// A warning is about 1/200 of the device at least; less is a remark.
const LEAST_SHARE: u64 = 200;
/// A proven cause of less than 1/50 of the device is a remark.
const LEAST_PROVEN_SHARE: u64 = 50;

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

/// Returns the findings about a failed request, most telling first. See Note [Ranking].
fn of_a_failure(facts: &Facts) -> Findings {
    let missing = facts.failure.as_ref().and_then(Failure::missing);
    let mut causes = prove_all(find_causes(facts), facts);
    if causes.iter().any(|cause| cause.without().is_some()) {
        for cause in &mut causes {
            weigh_proven(cause, facts, missing);
            saving::drop_small(cause, facts, missing);
        }
        causes.sort_by_key(|cause| order_of_proven(cause, facts, missing));
        saving::drop_batches_beside_growth(&mut causes);
    } else {
        causes.sort_by_key(|cause| {
            let decides = missing.is_none() || cause.bytes >= missing;
            (cause.finding.severity, cause.rank, !decides, Reverse(cause.bytes))
        });
    }
    let is_mistake = |cause: &&Cause| {
        let is_served = cause.without().is_some_and(|without| without.served == Some(true));
        is_served && is_enough(cause, facts) && cause.rank < Rank::Need && cause.finding.severity == Severity::Error
    };
    let mistake = causes.first().filter(is_mistake).map(|cause| cause.finding.rule);
    Findings { all: causes.into_iter().map(|cause| add_reason(cause, missing)).collect(), mistake }
}

/// The order of causes where some are proven: mistakes that decide, needs that decide, the rest, and remarks. Settings come
/// before changes to the program, and then the causes that free most.
fn order_of_proven(
    cause: &Cause,
    facts: &Facts,
    missing: Option<Bytes>,
) -> (bool, Rank, u8, Rank, Severity, Reverse<Bytes>) {
    let is_remark = cause.finding.severity == Severity::Info;
    let aside = cause.rank.max(Rank::Need);
    // What the numbers only suggest decides nothing beside a proof.
    let is_mistake = cause.rank < Rank::Need && cause.finding.severity == Severity::Error;
    let is_certain = cause.without().is_some() || is_mistake;
    let decides = is_certain && cause.is_sufficient(missing) && is_enough(cause, facts);
    let class = match (decides, cause.rank) {
        (true, Rank::Setting | Rank::Fault) => 0,
        (true, _) => 1,
        (false, _) => 2,
    };
    let rank = if class == 0 { cause.rank } else { aside };
    (is_remark, aside, class, rank, cause.finding.severity, Reverse(cause.freed_bytes()))
}

/// False if the program needs more than the device has without the cause, too: the request that failed would be served, and a later one refused.
fn is_enough(cause: &Cause, facts: &Facts) -> bool {
    let Some((need, device)) = facts.need.as_ref().zip(facts.device.total) else { return true };
    let least = match cause.removal.as_ref().map_or(AtNeed::Unknown, |removal| removal.at_need) {
        AtNeed::Unknown => Bytes::ZERO,
        AtNeed::Same => need.value.bytes - cause.freed_bytes(),
        AtNeed::AllBut(bytes) => bytes,
    };
    least <= device.nearest()
}

/// Makes a decisive mistake an error, and a cause of little memory a remark.
fn weigh_proven(cause: &mut Cause, facts: &Facts, missing: Option<Bytes>) {
    let Some(without) = cause.without() else { return };
    let device = facts.device.total.map(Known::nearest).or(facts.device.usable.map(|usable| usable.bytes.value));
    let is_served = without.served == Some(true);
    let is_small = device.is_some_and(|device| without.freed_bytes.0.saturating_mul(LEAST_PROVEN_SHARE) < device.0);
    cause.finding.severity = match cause.finding.severity {
        // A setting frees no allocated bytes.
        _ if is_small && !is_served => Severity::Info,
        Severity::Warning if cause.is_sufficient(missing) && is_enough(cause, facts) && cause.rank < Rank::Need => {
            Severity::Error
        }
        severity => severity,
    };
}

/// Adds the reason for a cause's position to its evidence.
fn add_reason(cause: Cause, missing: Option<Bytes>) -> Finding {
    let proven = cause.without().is_some();
    let mut finding = cause.finding;
    if let (Some(bytes), Some(missing), false) = (cause.bytes, missing.filter(|missing| *missing > Bytes::ZERO), proven)
    {
        let share = if bytes >= missing { "all" } else { "a part" };
        let share = format!("{bytes}, {share} of the {missing} that the request lacked");
        finding.evidence.push(text("accounts for", share, Source::Ranking));
    }
    finding
}
