//! The peaks of every process that used a device, for jobs of several processes.

use std::collections::BTreeMap;

use report::{Location, Rank};
use trace::{Bytes, DeviceIndex, Moment, Process};

use super::usage::fullest_device;
use super::view::View;
use crate::case::Case;
use crate::ending::ended_by_oom;
use crate::rules::input::RankFacts;

/// Returns every process by rank; empty if only one process used a device. (Launchers and the workers of
/// `torch.compile` use none.)
pub(crate) fn ranks(case: &Case) -> Vec<Rank> {
    let processes = case.limited.processes.iter();
    let mut ranks: Vec<Rank> = processes.filter_map(|process| rank(process, case.context())).collect();
    if ranks.len() < 2 && case.launch.job.is_none() {
        return Vec::new();
    }
    ranks.sort_by_key(|rank| (rank.rank, rank.device));
    ranks
}

fn rank(process: &Process, context: Bytes) -> Option<Rank> {
    let (device, peak) = fullest_device(process, context)?;
    Some(Rank { rank: process.rank(), device: device.0, peak, oom: ended_by_oom(process) })
}

/// Returns the ranks as facts for the rules, with the line that holds more on the fullest rank than on the median
/// rank; none where two processes have one rank: they do different work.
pub(crate) fn rank_facts(case: &Case, ranks: &[Rank]) -> Vec<RankFacts> {
    if ranks.windows(2).any(|pair| matches!(pair, [one, next] if one.rank == next.rank)) {
        return Vec::new();
    }
    let mut facts: Vec<RankFacts> = ranks
        .iter()
        .map(|rank| RankFacts {
            rank: rank.rank,
            device: rank.device,
            allocated: rank.peak.allocated_bytes,
            reserved: rank.peak.reserved_bytes,
            extra: None,
        })
        .collect();
    let mut order: Vec<usize> = (0..facts.len()).collect();
    order.sort_by_key(|index| (facts[*index].allocated, std::cmp::Reverse(facts[*index].rank)));
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
        process.rank() == rank.rank && uses.is_some_and(|(device, _)| device.0 == rank.device)
    })?;
    let view = View::new(process, DeviceIndex(rank.device));
    let peak = view.found.peaks().allocated.map(|peak| peak.at);
    Some(by_line(&view, peak))
}

/// Returns the line with the largest excess of bytes in `here` over `there`.
pub(crate) fn more(here: BTreeMap<Location, Bytes>, there: &BTreeMap<Location, Bytes>) -> Option<(Bytes, Location)> {
    let more = here.into_iter().map(|(line, bytes)| (bytes - there.get(&line).copied().unwrap_or_default(), line));
    more.filter(|(bytes, _)| *bytes > Bytes::ZERO).max()
}

/// Returns the live bytes at a moment, by the user's line.
pub(crate) fn by_line(view: &View, moment: Option<Moment>) -> BTreeMap<Location, Bytes> {
    let mut stacks = BTreeMap::new();
    let mut lines = BTreeMap::new();
    for (life, _) in moment.into_iter().flat_map(|moment| view.live_after(moment)) {
        *stacks.entry(life.stack).or_insert(Bytes::ZERO) += super::life::Life::block(life);
    }
    for (stack, bytes) in stacks {
        if let Some(line) = view.own_line(stack) {
            *lines.entry(line).or_insert(Bytes::ZERO) += bytes;
        }
    }
    lines
}
