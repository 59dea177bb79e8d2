//! The parts of two runs that are compared with each other: step by step, and the rest after the last common step.

use std::ops::Range;

use report::against::Surplus;

use super::align::{self, Hunk, Stretch};
use super::requests::Requests;

/// The paired and the unpaired requests of two runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Paired {
    pub(super) stretches: Vec<Stretch>,
    pub(super) hunks: Vec<Hunk>,
    pub(super) steps: u32,
    pub(super) surplus: Option<Surplus>,
}

/// Pairs the requests of two runs.
pub(super) fn pair(a: &Requests, b: &Requests) -> Paired {
    let steps = a.done.min(b.done);
    let first = [a, b].into_iter().filter(|run| run.is_headless).map(Requests::first_step).max().unwrap_or_default();
    let mut paired = Paired { steps: steps.saturating_sub(first.saturating_sub(1)).min(steps), ..Paired::default() };
    for step in first..=steps {
        paired.add([a, b], a.of_step(step), b.of_step(step));
    }
    let (tails, further) = tails([a, b], steps);
    let known = paired.hunks.len();
    let ends = tails.clone().map(|tail| tail.end);
    paired.add([a, b], tails[0].clone(), tails[1].clone());
    let dropped = if paired.hunks.len() > known { paired.drop_tail([a, b], ends) } else { None };
    paired.drop_head([a, b]);
    paired.surplus = match (further, dropped) {
        (Some(further), Some(dropped)) => Some(Surplus { requests: further.requests + dropped.requests, ..further }),
        (further, dropped) => further.or(dropped),
    };
    paired
}

/// The requests after the last common step, and the steps of the longer run that have no pair.
fn tails(runs: [&Requests; 2], steps: u32) -> ([Range<usize>; 2], Option<Surplus>) {
    let longer = usize::from(runs[1].done > runs[0].done);
    let all = runs.map(|run| run.after(run.done));
    if runs[0].done == runs[1].done {
        return (all, None);
    }
    let (more, less) = (runs[longer], runs[1 - longer]);
    // A run that was ended in a step is compared with this step of the other, else both are compared after their last step.
    let tail = if less.is_cut { more.of_step(steps + 1) } else { all[longer].clone() };
    let requests = more.after(steps).len() - tail.len();
    let surplus = Surplus { run: longer, steps: more.done - steps, requests: requests as u64 };
    let mut tails = all;
    tails[longer] = tail;
    (tails, Some(surplus))
}

impl Paired {
    /// Pairs the requests of two ranges.
    fn add(&mut self, runs: [&Requests; 2], a: Range<usize>, b: Range<usize>) {
        let keys = |run: usize, range: &Range<usize>| {
            let list = runs[run].list[range.clone()].iter();
            list.map(|request| (request.place, request.bytes)).collect::<Vec<_>>()
        };
        let tokens = align::number(&keys(0, &a), &keys(1, &b));
        let stretches = align::align(&tokens.0, &tokens.1);
        let hunks = align::list_hunks(&stretches, a.len(), b.len());
        let moved = |range: Range<usize>, by: usize| range.start + by..range.end + by;
        let shifted = |it: Stretch| Stretch { a: it.a + a.start, b: it.b + b.start, len: it.len };
        self.stretches.extend(stretches.into_iter().map(shifted));
        self.hunks.extend(hunks.into_iter().map(|it| Hunk { a: moved(it.a, a.start), b: moved(it.b, b.start) }));
    }

    /// Forgets the first requests of one run, if the other run has lost its beginning.
    fn drop_head(&mut self, runs: [&Requests; 2]) {
        let first_paired = self.stretches.first().map_or(usize::MAX, |stretch| stretch.a);
        let is_head = |hunk: &Hunk| hunk.a.end <= first_paired && is_longer_half(runs.map(|run| run.is_headless), hunk);
        if self.hunks.first().is_some_and(is_head) {
            self.hunks.remove(0);
        }
    }

    /// Forgets the last requests of one run, if the other run was ended before.
    fn drop_tail(&mut self, runs: [&Requests; 2], ends: [usize; 2]) -> Option<Surplus> {
        let last = self.hunks.last()?;
        let is_end = [last.a.end, last.b.end] == ends;
        if !is_end || !is_longer_half(runs.map(|run| run.is_cut), last) {
            return None;
        }
        let hunk = self.hunks.pop()?;
        let requests = (hunk.a.len() + hunk.b.len()) as u64;
        Some(Surplus { run: usize::from(hunk.a.is_empty()), steps: 0, requests })
    }
}

/// True if a hunk has requests of one run alone, and the other run is shortened.
fn is_longer_half(shortened: [bool; 2], hunk: &Hunk) -> bool {
    (hunk.a.is_empty() && shortened[0]) || (hunk.b.is_empty() && shortened[1])
}

#[cfg(test)]
mod tests;
