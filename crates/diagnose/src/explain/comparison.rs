//! The differences between two inputs, or between the ranks of a job.

use std::collections::BTreeMap;

use report::SiteFrame;
use report::explain::{Comparison, SiteDifference};
use trace::{Bytes, StackId};

use super::devices::Seen;
use super::ending::find_moment;
use super::statements::Statements;
use crate::measure::life::Life;
use crate::measure::view::View;

/// The comparison names at most this many lines.
const SITES: usize = 20;

/// A stack across inputs: file, line and function of the frames that the report shows.
type Key = Vec<(String, u32, String)>;

/// The live bytes of one stack on each side.
#[derive(Clone, Debug, Default)]
struct Held {
    frames: Vec<SiteFrame>,
    bytes: Vec<Bytes>,
    counts: Vec<u64>,
}

/// Compares the inputs that have a history or segments; `None` with fewer than two inputs.
pub(super) fn comparison(seen: &[Seen], stated: &Statements) -> Option<Comparison> {
    let sides = sides(seen, stated);
    if sides.len() < 2 {
        return None;
    }
    let name = |index: usize| seen.get(index).map_or_else(String::new, |seen| name(seen, stated));
    let peak = |index: &usize| stated.devices.get(*index).map(|history| history.peak.clone());
    let views: Vec<&View> = sides.iter().filter_map(|index| seen.get(*index)).map(|seen| &seen.view).collect();
    Some(Comparison {
        sides: sides.iter().map(|index| name(*index)).collect(),
        peaks: sides.iter().filter_map(peak).collect(),
        sites: differences(&views),
    })
}

/// Returns the fullest device of each process, in input order.
fn sides(seen: &[Seen], stated: &Statements) -> Vec<usize> {
    let mut fullest: BTreeMap<(usize, Option<u32>), usize> = BTreeMap::new();
    let allocated = |index: usize| stated.devices.get(index).map(|history| history.peak.allocated_bytes);
    for (index, device) in seen.iter().enumerate() {
        let best = fullest.entry((device.input, device.rank)).or_insert(index);
        if allocated(index) > allocated(*best) {
            *best = index;
        }
    }
    fullest.into_values().collect()
}

fn name(seen: &Seen, stated: &Statements) -> String {
    let path = stated.inputs.get(seen.input).map_or_else(String::new, |input| input.path.clone());
    seen.rank.map_or(path, |rank| format!("rank {rank}"))
}

fn differences(views: &[&View]) -> Vec<SiteDifference> {
    let mut held: BTreeMap<Key, Held> = BTreeMap::new();
    for (side, view) in views.iter().enumerate() {
        for (stack, (bytes, count)) in by_stack(view) {
            let frames = view.frames(stack);
            let key = frames.iter().map(|frame| (frame.file.clone(), frame.line, frame.function.clone())).collect();
            let entry = held.entry(key).or_default();
            entry.bytes.resize(views.len(), Bytes::ZERO);
            entry.counts.resize(views.len(), 0);
            entry.bytes[side] += bytes;
            entry.counts[side] += count;
            entry.frames = frames;
        }
    }
    let mut sites: Vec<SiteDifference> = held
        .into_values()
        .filter(|held| difference(&held.bytes) > Bytes::ZERO)
        .map(|Held { frames, bytes, counts }| SiteDifference { bytes, counts, frames })
        .collect();
    sites.sort_by_key(|site| std::cmp::Reverse(difference(&site.bytes)));
    sites.truncate(SITES);
    sites
}

fn difference(bytes: &[Bytes]) -> Bytes {
    let most = bytes.iter().max().copied().unwrap_or_default();
    most - bytes.iter().min().copied().unwrap_or_default()
}

/// Returns the live bytes at the moment of interest, by allocating stack.
fn by_stack(view: &View) -> BTreeMap<StackId, (Bytes, u64)> {
    let mut held: BTreeMap<StackId, (Bytes, u64)> = BTreeMap::new();
    for (life, _) in find_moment(view).into_iter().flat_map(|moment| view.live_after(moment)) {
        let entry = held.entry(life.stack).or_default();
        *entry = (entry.0 + life.block(), entry.1 + 1);
    }
    held
}
