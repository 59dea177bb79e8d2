//! The alignment of two sequences, at a bounded cost.
//!
//! # Note [Alignment]
//! Equal ends are paired first. A range that is left over is solved by the first method that applies:
//! 1. a sequence that is the other one with deletions is paired in a single walk, however long;
//! 2. elements that each sequence has exactly once are anchors, and the ranges between the anchors are aligned by themselves;
//! 3. Myers' search finds the fewest insertions and deletions, up to [`MOST_EDITS`];
//! 4. the rest stays unpaired.
//!
//! Pure deletions are therefore found exactly: anchors of such a pair are pairs of every alignment.

mod myers;

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

/// More insertions and deletions in a range without anchors are not searched for.
const MOST_EDITS: usize = 1000;
/// Ranges between anchors are split again at most this many times.
const DEEPEST: u32 = 24;

/// Equal elements that follow each other in both sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) a: usize,
    pub(super) b: usize,
    pub(super) len: usize,
}

/// Unpaired elements between two stretches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hunk {
    pub(super) a: Range<usize>,
    pub(super) b: Range<usize>,
}

/// Work that is left: a range to align, or a result that follows the ranges before it.
#[derive(Debug)]
enum Task {
    Align(Hunk, u32),
    Emit(Stretch),
}

/// Returns the stretches of equal elements, in order. See Note `[Alignment]`.
pub(super) fn align(a: &[u32], b: &[u32]) -> Vec<Stretch> {
    let mut stretches = Vec::new();
    let mut tasks = vec![Task::Align(Hunk { a: 0..a.len(), b: 0..b.len() }, 0)];
    while let Some(task) = tasks.pop() {
        match task {
            Task::Emit(stretch) => push(&mut stretches, stretch),
            Task::Align(range, depth) => align_range(a, b, &range, depth, &mut tasks),
        }
    }
    stretches
}

/// Returns the unpaired ranges between the stretches, in order.
pub(super) fn list_hunks(stretches: &[Stretch], a_len: usize, b_len: usize) -> Vec<Hunk> {
    let end = Stretch { a: a_len, b: b_len, len: 0 };
    let (mut hunks, mut at) = (Vec::new(), (0, 0));
    for stretch in stretches.iter().chain([&end]) {
        let hunk = Hunk { a: at.0..stretch.a, b: at.1..stretch.b };
        at = (stretch.a + stretch.len, stretch.b + stretch.len);
        if !(hunk.a.is_empty() && hunk.b.is_empty()) {
            hunks.push(hunk);
        }
    }
    hunks
}

/// Numbers the different elements.
pub(super) fn number<T: Eq + Hash + Copy>(a: &[T], b: &[T]) -> (Vec<u32>, Vec<u32>) {
    let mut known = HashMap::new();
    let mut token = |element: &T| {
        let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
        *known.entry(*element).or_insert(next)
    };
    (a.iter().map(&mut token).collect(), b.iter().map(token).collect())
}

fn push(stretches: &mut Vec<Stretch>, next: Stretch) {
    match stretches.last_mut() {
        Some(last) if (last.a + last.len, last.b + last.len) == (next.a, next.b) => last.len += next.len,
        _ => stretches.push(next),
    }
}

/// Pairs the ends, and leaves tasks for the range between them; the first task comes to lie on top.
fn align_range(a: &[u32], b: &[u32], range: &Hunk, depth: u32, tasks: &mut Vec<Task>) {
    let (ours, theirs) = (&a[range.a.clone()], &b[range.b.clone()]);
    let before = ours.iter().zip(theirs).take_while(|(one, other)| one == other).count();
    let (ours, theirs) = (&ours[before..], &theirs[before..]);
    let after = ours.iter().rev().zip(theirs.iter().rev()).take_while(|(one, other)| one == other).count();
    let inner = Hunk { a: range.a.start + before..range.a.end - after, b: range.b.start + before..range.b.end - after };
    let end = Stretch { a: inner.a.end, b: inner.b.end, len: after };
    let start = Stretch { a: range.a.start, b: range.b.start, len: before };
    emit(tasks, end);
    if !inner.a.is_empty() && !inner.b.is_empty() {
        align_inner(&a[inner.a.clone()], &b[inner.b.clone()], &inner, depth, tasks);
    }
    emit(tasks, start);
}

fn emit(tasks: &mut Vec<Task>, stretch: Stretch) {
    if stretch.len > 0 {
        tasks.push(Task::Emit(stretch));
    }
}

/// Aligns a range whose ends differ.
fn align_inner(ours: &[u32], theirs: &[u32], inner: &Hunk, depth: u32, tasks: &mut Vec<Task>) {
    if let Some(pairs) = find_subsequence(ours, theirs) {
        return emit_pairs(&pairs, inner, tasks);
    }
    let anchors = if depth < DEEPEST { find_anchors(ours, theirs) } else { Vec::new() };
    if anchors.is_empty() {
        let pairs = myers::find_pairs(ours, theirs, MOST_EDITS).unwrap_or_default();
        return emit_pairs(&pairs, inner, tasks);
    }
    let mut end = (inner.a.end, inner.b.end);
    for (one, other) in anchors.into_iter().rev() {
        let (one, other) = (inner.a.start + one, inner.b.start + other);
        tasks.push(Task::Align(Hunk { a: one + 1..end.0, b: other + 1..end.1 }, depth + 1));
        emit(tasks, Stretch { a: one, b: other, len: 1 });
        end = (one, other);
    }
    tasks.push(Task::Align(Hunk { a: inner.a.start..end.0, b: inner.b.start..end.1 }, depth + 1));
}

fn emit_pairs(pairs: &[(usize, usize)], inner: &Hunk, tasks: &mut Vec<Task>) {
    for (one, other) in pairs.iter().rev() {
        emit(tasks, Stretch { a: inner.a.start + one, b: inner.b.start + other, len: 1 });
    }
}

/// Pairs every element of the shorter sequence, if the longer one has them all in the same order.
fn find_subsequence(ours: &[u32], theirs: &[u32]) -> Option<Vec<(usize, usize)>> {
    if ours.len() > theirs.len() {
        let pairs = find_subsequence(theirs, ours)?;
        return Some(pairs.into_iter().map(|(other, one)| (one, other)).collect());
    }
    let mut later = theirs.iter().enumerate();
    let pair = |(one, element): (usize, &u32)| Some((one, later.find(|(_, other)| *other == element)?.0));
    ours.iter().enumerate().map(pair).collect()
}

/// Pairs the elements that each sequence has once, as many as have the same order in both.
fn find_anchors(ours: &[u32], theirs: &[u32]) -> Vec<(usize, usize)> {
    let (once, once_there) = (list_unique(ours), list_unique(theirs));
    let place = |index: usize| Some((index, *once_there.get(&ours[index])?));
    let mut places: Vec<usize> = once.into_values().collect();
    places.sort_unstable();
    let both: Vec<(usize, usize)> = places.into_iter().filter_map(place).collect();
    longest_increasing(&both)
}

/// Returns the index of each element that occurs once.
fn list_unique(elements: &[u32]) -> HashMap<u32, usize> {
    let mut found: HashMap<u32, Option<usize>> = HashMap::new();
    for (index, element) in elements.iter().enumerate() {
        found.entry(*element).and_modify(|known| *known = None).or_insert(Some(index));
    }
    found.into_iter().filter_map(|(element, index)| Some((element, index?))).collect()
}

/// Returns the longest part of `pairs` whose second numbers increase, by patience sorting.
fn longest_increasing(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let (mut piles, mut before): (Vec<usize>, Vec<Option<usize>>) = (Vec::new(), Vec::new());
    for (index, (_, value)) in pairs.iter().enumerate() {
        let pile = piles.partition_point(|top| pairs[*top].1 < *value);
        before.push(pile.checked_sub(1).map(|below| piles[below]));
        if pile == piles.len() { piles.push(index) } else { piles[pile] = index }
    }
    let top = piles.last().copied();
    let mut chain: Vec<(usize, usize)> =
        std::iter::successors(top, |index| before[*index]).map(|it| pairs[it]).collect();
    chain.reverse();
    chain
}

#[cfg(test)]
mod tests;
