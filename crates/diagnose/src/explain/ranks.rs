//! The ranks of a job and their differences.

use report::Location;

use trace::Bytes;

use super::devices::Seen;
use super::ending::find_moment;
use super::statements::Statements;
use crate::measure::lines::{by_line, more};
use crate::measure::view::View;
use crate::rules::facts::input::RankFacts;
use crate::rules::facts::known::{Known, Source};

/// Returns every device of every rank with a history; empty with fewer than two ranks.
pub(super) fn ranks(seen: &[Seen], stated: &Statements) -> Vec<RankFacts> {
    let ranks = seen.iter().zip(&stated.devices).filter_map(|(seen, history)| {
        Some(RankFacts {
            rank: seen.rank?,
            device: history.device.0,
            allocated: Known::new(history.peak.allocated_bytes, Source::SnapshotOfRank),
            reserved: Known::new(history.peak.reserved_bytes, Source::SnapshotOfRank),
            extra: None,
        })
    });
    let mut ranks: Vec<RankFacts> = ranks.collect();
    ranks.sort_by_key(|rank| (rank.rank, rank.device));
    if ranks.windows(2).all(|pair| pair[0].rank == pair[1].rank) {
        return Vec::new();
    }
    name_extra(&mut ranks, seen, stated);
    ranks
}

/// Names the line with the largest excess of live bytes on the fullest rank over another rank.
fn name_extra(ranks: &mut [RankFacts], seen: &[Seen], stated: &Statements) {
    let Some(most) = ranks.iter_mut().max_by_key(|rank| rank.allocated.value) else {
        return;
    };
    let of = |fullest: bool| {
        let mut all = seen.iter().zip(&stated.devices).filter(|(seen, _)| (seen.rank == Some(most.rank)) == fullest);
        all.find(|(seen, history)| seen.rank.is_some() && (!fullest || history.device.0 == most.device))
    };
    if let (Some((here, _)), Some((there, _))) = (of(true), of(false)) {
        most.extra = extra(&here.view, &there.view);
    }
}

fn extra(here: &View, there: &View) -> Option<(Bytes, Location)> {
    more(by_line(here, find_moment(here)), &by_line(there, find_moment(there)))
}
