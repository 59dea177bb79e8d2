//! `rank-imbalance`: one rank of a job holds much more than the others.
//!
//! Role job, order 100.

use causes::CauseId;
use report::{Evidence, Finding};
use trace::Bytes;

use crate::rules::advice::advice;
use crate::rules::facts::input::Facts;
use crate::rules::facts::known::{Source, bytes};
use crate::rules::rule::{Cause, Check, Rank, Rule};

/// The fullest rank holds more than 1/5 above the median of the others.
const MIN_EXCESS_DENOMINATOR: u64 = 5;

pub(super) const RULE: Rule = Rule { cause: CauseId::RankImbalance, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    let most = facts.fleet.ranks.iter().max_by_key(|rank| (rank.allocated.value, std::cmp::Reverse(rank.rank)))?;
    let others = facts.fleet.ranks.iter().filter(|rank| *rank != most);
    let mut others: Vec<Bytes> = others.map(|rank| rank.allocated.value).collect();
    others.sort_unstable();
    let median = *others.get(others.len() / 2)?;
    let more = most.allocated.value - median;
    if median == Bytes::ZERO || more.0.saturating_mul(MIN_EXCESS_DENOMINATOR) <= median.0 {
        return None;
    }
    let mut evidence: Vec<Evidence> =
        facts.fleet.ranks.iter().map(|rank| rank.allocated.row(&format!("peak of rank {}", rank.rank))).collect();
    let extra = most.extra.as_ref();
    evidence.extend(extra.map(|(held, line)| {
        bytes(&format!("only there, allocated at {}", facts.at(line)), *held, Source::SnapshotOfRank)
    }));
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: facts.severity(),
        message: format!("rank {} holds {more} more than the others at its peak", most.rank),
        location: extra.map(|(_, line)| line.clone()),
        evidence,
        remedies: vec![advice(
            "spread the memory of the fullest rank over all ranks, or move it to the CPU",
            "gathered results, averaged weights and checkpoints of rank 0: keep them on the CPU, or shard them",
        )],
    };
    Some(Cause { finding, bytes: Some(more), rank: Rank::Fault, removal: None })
}
