//! One device of one process in two runs.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use report::against::{ComparedDevice, ComparedPeak, ComparedRequest, Keeping, LineDifference, Parting};
use trace::Bytes;

use super::align::Hunk;
use super::moved::undo_moves;
use super::places::{PlaceId, Places, StackPlaces};
use super::requests::{Request, Requests};
use super::sections::{Paired, pair};
use crate::measure::life::Life;
use crate::measure::view::View;

/// A device of one run.
#[derive(Debug)]
pub(super) struct Side<'v, 'a> {
    pub(super) view: &'v View<'a>,
    pub(super) is_real: bool,
    /// Set if the run did not end well.
    pub(super) failed: bool,
}

/// Compares two histories.
pub(super) fn compare(sides: &[Side; 2]) -> ComparedDevice {
    let mut places = Places::default();
    let mut runs = [&sides[0], &sides[1]].map(|side| Requests::of(side.view, &mut places, side.is_real, side.failed));
    let moved_lines = undo_moves(&mut runs, &mut places);
    let paired = pair(&runs[0], &runs[1]);
    let [a, b] = [&sides[0], &sides[1]].map(|side| live_at_peak(side.view, &mut places));
    let live = [a, b.into_iter().map(|(place, sum)| (places.moved(place), sum)).collect()];
    let unpaired = unpaired(&runs, &paired.hunks);
    ComparedDevice {
        rank: sides[0].view.trace.process.identity.rank,
        device: sides[0].view.trace.device,
        equal_requests: paired.stretches.iter().map(|stretch| stretch.len as u64).sum(),
        moved_lines: moved_lines as u64,
        steps: paired.steps,
        unpaired_requests: [0, 1].map(|run| unpaired.iter().map(|requests| requests[run].len() as u64).sum()),
        parting: find_parting(&runs, &paired, &places),
        keeping: find_keeping(&runs, &paired, &places),
        surplus: paired.surplus,
        peaks: [&sides[0], &sides[1]].map(|side| peak_of(side.view)),
        lines: differences(&live, &places),
        unpaired_lines: differences(&[0, 1].map(|run| sum_by_place(&unpaired, run)), &places),
    }
}

/// The peaks: PyTorch's counters also know the part that the recording lost.
pub(super) fn peak_of(view: &View) -> ComparedPeak {
    let walked = view.trace.history.peaks();
    let stats = || view.trace.process.stats_of(view.trace.device);
    let counted = |figure: fn(&trace::run::DeviceStats) -> u64| stats().map(figure).max().unwrap_or_default();
    let largest = |peak: Option<trace::Peak>, counted: u64| peak.map_or(Bytes::ZERO, |it| it.bytes).max(Bytes(counted));
    ComparedPeak {
        allocated_bytes: largest(walked.allocated, counted(|stats| stats.allocated_peak_bytes)),
        // Between the calls of the driver a recording estimates the reserved bytes; the counters are exact.
        reserved_bytes: match counted(|stats| stats.reserved_peak_bytes) {
            0 => largest(walked.reserved, 0),
            counted => Bytes(counted),
        },
    }
}

/// Bytes and blocks by line.
type Sums = BTreeMap<PlaceId, (Bytes, u64)>;

fn live_at_peak(view: &View, places: &mut Places) -> Sums {
    let (mut stacks, mut sums) = (StackPlaces::new(view), Sums::new());
    let peak = view.trace.history.peaks().allocated;
    for (life, _) in peak.into_iter().flat_map(|peak| view.live_after(peak.at)) {
        let place = stacks.find(places, life.stack, view.phase_of(life));
        let sum = sums.entry(place).or_default();
        *sum = (sum.0 + life.block(), sum.1 + 1);
    }
    sums
}

fn sum_by_place(unpaired: &[[&[Request]; 2]], run: usize) -> Sums {
    let mut sums = Sums::new();
    for request in unpaired.iter().flat_map(|requests| requests[run]) {
        let sum = sums.entry(request.place).or_default();
        *sum = (sum.0 + Bytes(request.bytes), sum.1 + 1);
    }
    sums
}

/// The lines with different sums, the largest difference first.
fn differences(sums: &[Sums; 2], places: &Places) -> Vec<LineDifference> {
    let all: BTreeSet<PlaceId> = sums.iter().flat_map(Sums::keys).copied().collect();
    let of = |place: PlaceId| [0, 1].map(|run| sums[run].get(&place).copied().unwrap_or_default());
    let line = |place: PlaceId| {
        let [a, b] = of(place);
        LineDifference { line: places.line(place), bytes: [a.0, b.0], counts: [a.1, b.1] }
    };
    let mut lines: Vec<LineDifference> = all.into_iter().map(line).filter(|it| it.bytes[0] != it.bytes[1]).collect();
    lines.sort_by_key(|line| std::cmp::Reverse(distance(line.bytes)));
    lines
}

pub(super) fn distance(bytes: [Bytes; 2]) -> Bytes {
    bytes[0].max(bytes[1]) - bytes[0].min(bytes[1])
}

/// The requests of each hunk.
fn unpaired<'r>(runs: &'r [Requests; 2], hunks: &[Hunk]) -> Vec<[&'r [Request]; 2]> {
    let of = |run: usize, range: &Range<usize>| runs[run].list.get(range.clone()).unwrap_or_default();
    hunks.iter().map(|hunk| [of(0, &hunk.a), of(1, &hunk.b)]).collect()
}

/// The first difference: a hunk of the program before a hunk of libraries, or a pair that a single run was served.
fn find_parting(runs: &[Requests; 2], paired: &Paired, places: &Places) -> Option<Parting> {
    let unpaired = unpaired(runs, &paired.hunks);
    if unpaired.is_empty() {
        return find_unserved(runs, paired, places);
    }
    let first = unpaired.iter().find(|hunk| !is_of_libraries(hunk, places));
    let [a, b] = first.or(unpaired.first())?;
    let requests = [a.first(), b.first()];
    let describe = |request: &Request| describe(request, places);
    Some(Parting {
        step: requests.into_iter().flatten().map(|request| request.step).min().filter(|_| paired.steps > 0),
        requests: requests.map(|request| request.map(describe)),
        is_reordered: is_reordered(&unpaired),
        is_of_libraries: first.is_none(),
    })
}

/// The first pair of a served and a failed request.
fn find_unserved(runs: &[Requests; 2], paired: &Paired, places: &Places) -> Option<Parting> {
    let (a, b) = pairs(runs, paired).find(|(a, b)| a.is_failed != b.is_failed)?;
    let requests = [a, b].map(|request| Some(describe(request, places)));
    let step = Some(a.step).filter(|_| paired.steps > 0);
    Some(Parting { step, requests, is_reordered: false, is_of_libraries: false })
}

fn describe(request: &Request, places: &Places) -> ComparedRequest {
    let mut line = places.line(request.place);
    line.is_of_library |= request.is_workspace;
    ComparedRequest { line, bytes: Bytes(request.bytes), is_failed: request.is_failed }
}

/// True if every request of a hunk is made inside libraries. A workspace is known by the phantom alone: the request of the same line in a
/// real run is its counterpart.
fn is_of_libraries(hunk: &[&[Request]; 2], places: &Places) -> bool {
    let all = || hunk.iter().copied().flatten();
    let of_library = |request: &&Request| request.is_workspace || places.is_of_library(request.place);
    let known: BTreeSet<PlaceId> = all().filter(of_library).map(|request| request.place).collect();
    all().all(|request| known.contains(&request.place) && !request.is_failed)
}

/// True if both runs have the same requests without a pair.
fn is_reordered(unpaired: &[[&[Request]; 2]]) -> bool {
    let [a, b] = [0, 1].map(|run| {
        let all = unpaired.iter().flat_map(|requests| requests[run]);
        let mut all: Vec<(PlaceId, u64)> = all.map(|request| (request.place, request.bytes)).collect();
        all.sort_unstable();
        all
    });
    a == b
}

/// The pairs of equal requests.
fn pairs<'r>(runs: &'r [Requests; 2], paired: &'r Paired) -> impl Iterator<Item = (&'r Request, &'r Request)> {
    let of = |run: usize, start: usize, len: usize| runs[run].list.get(start..start + len).unwrap_or_default();
    paired.stretches.iter().flat_map(move |it| of(0, it.a, it.len).iter().zip(of(1, it.b, it.len)))
}

/// The largest block that one of the runs keeps longer, and the first of its size.
fn find_keeping(runs: &[Requests; 2], paired: &Paired, places: &Places) -> Option<Keeping> {
    let last = runs[0].done.min(runs[1].done);
    let freed = |request: &Request| request.freed.filter(|step| *step <= last);
    let is_kept = |(a, b): &(&Request, &Request)| freed(a) != freed(b) && !a.is_failed && !b.is_failed;
    let largest = pairs(runs, paired).filter(is_kept).enumerate();
    let (_, (a, b)) = largest.max_by_key(|(index, (a, _))| (a.bytes, std::cmp::Reverse(*index)))?;
    Some(Keeping { request: describe(a, places), step: a.step, freed: [freed(a), freed(b)] })
}
