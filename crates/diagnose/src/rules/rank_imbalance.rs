//! `rank-imbalance`: one rank of a job holds much more than the others.
//!
//! Role job, order 100.

use causes::CauseId;
use report::{Evidence, Finding, Severity};
use trace::Bytes;

use super::input::Facts;
use super::rule::{Cause, Check, Rank, Rule, When};
use super::shared::{advice, bytes};

/// The fullest rank holds more than 1/5 above the median of the others.
const MIN_EXCESS_DENOMINATOR: u64 = 5;

pub(super) const RULE: Rule = Rule { cause: CauseId::RankImbalance, when: When::Both, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    let most = facts.ranks.iter().max_by_key(|rank| (rank.allocated, std::cmp::Reverse(rank.rank)))?;
    let mut others: Vec<Bytes> = facts.ranks.iter().filter(|rank| *rank != most).map(|rank| rank.allocated).collect();
    others.sort_unstable();
    let median = *others.get(others.len() / 2)?;
    let more = most.allocated - median;
    if median == Bytes::ZERO || more.0.saturating_mul(MIN_EXCESS_DENOMINATOR) <= median.0 {
        return None;
    }
    let source = if facts.explains { "its snapshot" } else { "its memory_stats" };
    let mut evidence: Vec<Evidence> =
        facts.ranks.iter().map(|rank| bytes(&format!("peak of rank {}", rank.rank), rank.allocated, source)).collect();
    let extra = most.extra.as_ref();
    evidence.extend(
        extra.map(|(held, line)| bytes(&format!("only there, allocated at {}", facts.at(line)), *held, "its snapshot")),
    );
    let finding = Finding {
        rule: RULE.cause,
        severity: if facts.fatal { Severity::Error } else { Severity::Warning },
        message: format!("rank {} holds {more} more than the others at its peak", most.rank),
        location: extra.map(|(_, line)| line.clone()),
        evidence,
        remedies: vec![advice(
            "spread the memory of the fullest rank over all ranks, or move it to the CPU",
            "gathered results, averaged weights and checkpoints of rank 0: keep them on the CPU, or shard them",
        )],
    };
    Some(Cause { finding, bytes: Some(more), rank: Rank::Fault })
}
