//! The peaks of every process that used a device, for jobs of several processes.

use std::collections::BTreeMap;

use report::{Location, Rank};
use trace::{Bytes, DeviceIndex, Process};

use super::case::Case;
use crate::judge::outcome::Outcome;
use crate::measure::lines::{by_line, more};
use crate::measure::usage::fullest_device;
use crate::rules::facts::input::RankFacts;
use crate::rules::facts::known::{Known, Source};

/// Returns every process by rank; empty if only one process used a device. (Launchers and the workers of
/// `torch.compile` use none.)
pub(super) fn ranks(case: &Case) -> Vec<Rank> {
    let processes = case.limited.processes.iter();
    let mut ranks: Vec<Rank> = processes.filter_map(|process| rank(case, process)).collect();
    if ranks.len() < 2 && case.launch.job.is_none() {
        return Vec::new();
    }
    ranks.sort_by_key(|rank| (rank.rank, rank.device));
    ranks
}

fn rank(case: &Case, process: &Process) -> Option<Rank> {
    let (device, peak) = fullest_device(process, case.context())?;
    let oom = Outcome::of_process(process, case.limited) == Outcome::Ended;
    Some(Rank { rank: process.identity.rank, device: device.0, peak, oom })
}

/// Returns the ranks as facts for the rules, with the line that holds more on the fullest rank than on the median
/// rank; none where two processes have one rank, for they do different work, or where a rank was killed.
pub(super) fn rank_facts(case: &Case, ranks: &[Rank]) -> Vec<RankFacts> {
    let is_doubled = ranks.windows(2).any(|pair| matches!(pair, [one, next] if one.rank == next.rank));
    // The counters of a killed rank are those of an earlier moment.
    let is_cut =
        case.limited.processes.iter().any(|process| process.end.is_none() && process.ledger.fullest().is_some());
    if is_doubled || is_cut {
        return Vec::new();
    }
    let mut facts: Vec<RankFacts> = ranks
        .iter()
        .map(|rank| RankFacts {
            rank: rank.rank,
            device: rank.device,
            allocated: Known::new(rank.peak.allocated_bytes, Source::CountersOfRank),
            reserved: Known::new(rank.peak.reserved_bytes, Source::CountersOfRank),
            extra: None,
        })
        .collect();
    let mut order: Vec<usize> = (0..facts.len()).collect();
    order.sort_by_key(|index| (facts[*index].allocated.value, std::cmp::Reverse(facts[*index].rank)));
    if let [others @ .., most] = &order[..]
        && let Some(median) = others.get(others.len() / 2)
    {
        facts[*most].extra = extra(case, &facts[*most], &facts[*median]);
    }
    facts
}

fn extra(case: &Case, most: &RankFacts, other: &RankFacts) -> Option<(Bytes, Location)> {
    let (here, there) = (at_peak(case, most)?, at_peak(case, other)?);
    more(here, &there)
}

/// Returns the live bytes at a rank's peak, by the user's line.
fn at_peak(case: &Case, rank: &RankFacts) -> Option<BTreeMap<Location, Bytes>> {
    let process = case.limited.processes.iter().find(|process| {
        let uses = fullest_device(process, case.context());
        process.identity.rank == rank.rank && uses.is_some_and(|(device, _)| device.0 == rank.device)
    })?;
    let view = case.views.find(process, DeviceIndex(rank.device));
    let peak = view.trace.history.peaks().allocated.map(|peak| peak.at);
    Some(by_line(&view, peak))
}
