//! Iterations: where the repetitions begin in which a program ran out of memory.
//!
//! # Note [Iterations]
//! A program repeats at several levels: optimizer steps, and the passes of each of its own loops around the refused request. Steps are marked.
//! A pass begins with the first allocation of a stack that allocates once per pass, or several times in a row. Most stacks in a loop do so as
//! often as there are passes, and once less if the last pass was cut before them: the most frequent count tells, of equals the smallest. Where
//! one stack makes all allocations of the loop, a pass begins with each that is alive at the end.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use report::Location;
use trace::run::LoopRecord;
use trace::{EventIndex, Lifetime, Moment, StackId};

use super::fate::Fate;
use super::life::Life;
use super::view::View;

/// The beginnings of the iterations of one level, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Iterations {
    /// The loop; `None` for optimizer steps.
    pub(crate) at: Option<Location>,
    /// The last line of the loop; 0 for optimizer steps.
    last_line: u32,
    starts: Vec<EventIndex>,
}

impl Iterations {
    /// Lists the levels with two iterations or more up to `end`: optimizer steps, then the loops, innermost first. The run without a limit, if
    /// there is one, shows whole passes.
    pub(crate) fn list(view: &View, end: Moment, fate: Option<&Fate>) -> Vec<Iterations> {
        let loops = &view.trace.loops;
        let levels = loops.iter().enumerate().rev().map(|(index, one)| {
            let inner = &loops[index + 1..];
            match fate {
                Some(fate) => of_later(view, end, fate, one, inner),
                None => of_loop(view, one, inner, end),
            }
        });
        let levels = std::iter::once(of_steps(view, end)).chain(levels);
        levels.filter(|level| level.starts.len() >= 2).collect()
    }

    /// Returns the passes of a loop up to `end`; `None` for less than two. `inner`: the loops inside.
    pub(crate) fn of_loop(view: &View, one: &LoopRecord, inner: &[LoopRecord], end: Moment) -> Option<Iterations> {
        Some(of_loop(view, one, inner, end)).filter(|level| level.starts.len() >= 2)
    }

    /// Returns the iteration of an event, counted from 0; `None` before the first.
    pub(crate) fn number(&self, event: EventIndex) -> Option<usize> {
        self.starts.partition_point(|start| *start <= event).checked_sub(1)
    }

    /// Returns the iteration that made an allocation.
    pub(crate) fn of(&self, life: &Lifetime) -> Option<usize> {
        self.number(life.begun()?)
    }

    /// Returns the line of the loop's body from which a stack was called; for optimizer steps, the user's line outside modules.
    pub(crate) fn line_of(&self, view: &View, stack: StackId) -> Option<Location> {
        let Some(at) = &self.at else { return view.call_location(stack) };
        let is_body = |frame: &&trace::Frame| frame.file == at.file && (at.line..=self.last_line).contains(&frame.line);
        let frame = view.frames_of(stack).filter(is_body).last();
        frame.map(|frame| Location { file: frame.file.clone(), line: frame.line, column: None })
    }

    /// Returns the last event of an iteration that another one follows.
    pub(crate) fn last_event(&self, number: usize) -> Option<EventIndex> {
        let next = self.starts.get(number + 1)?;
        Some(EventIndex(next.0.saturating_sub(1)))
    }
}

/// The optimizer steps, by their first events.
fn of_steps(view: &View, end: Moment) -> Iterations {
    let stretches = view.timeline.stretches().iter().filter(|stretch| Moment::from(stretch.first) <= end);
    let mut starts: Vec<(u32, EventIndex)> =
        stretches.filter_map(|stretch| Some((stretch.at?.0, stretch.first))).collect();
    starts.dedup_by_key(|(step, _)| *step);
    Iterations { at: None, last_line: 0, starts: starts.into_iter().map(|(_, first)| first).collect() }
}

fn of_loop(view: &View, one: &LoopRecord, inner: &[LoopRecord], end: Moment) -> Iterations {
    let at = Some(Location { file: one.file.clone(), line: one.line, column: None });
    let last_line = one.last_line;
    let made = list_made(view, one, inner, end);
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for events in made.values() {
        *counts.entry(events.len()).or_default() += 1;
    }
    let usual =
        counts.into_iter().filter(|(count, _)| *count > 1).max_by_key(|(count, stacks)| (*stacks, Reverse(*count)));
    let Some((usual, _)) = usual else { return Iterations { at, last_line, starts: Vec::new() } };
    let beats = made.into_values().filter(|events| (usual..=usual + 1).contains(&events.len()));
    Iterations { at, last_line, starts: beats.min_by_key(|events| events.first().copied()).unwrap_or_default() }
}

/// The passes of a loop up to the failed request `end`, as the run without a limit shows them.
fn of_later(view: &View, end: Moment, fate: &Fate, one: &LoopRecord, inner: &[LoopRecord]) -> Iterations {
    let later = of_loop(fate.later, one, inner, Moment::from(fate.later.trace.end()));
    let made = view.trace.history.lifetimes();
    let begun = |start: &EventIndex| {
        let begins_later = *start >= fate.request;
        if begins_later { end.event_before() } else { made.get(fate.number_at(*start))?.begun() }
    };
    let mut starts: Vec<EventIndex> =
        later.starts.iter().take_while(|start| **start <= fate.request).filter_map(begun).collect();
    starts.dedup();
    Iterations { starts, ..later }
}

/// The allocations of each stack in a loop, without those right behind one of the same stack: of those outside modules and inner loops, if there
/// are any, else of those outside modules.
fn list_made(view: &View, one: &LoopRecord, inner: &[LoopRecord], end: Moment) -> BTreeMap<StackId, Vec<EventIndex>> {
    let mut is_inside: BTreeMap<StackId, bool> = BTreeMap::new();
    let mut made: BTreeMap<StackId, Vec<EventIndex>> = BTreeMap::new();
    let mut before = None;
    for life in view.trace.history.lifetimes().iter().filter(|life| life.begun <= end) {
        let is_inside = *is_inside.entry(life.stack).or_insert_with(|| view.is_in_loop(life.stack, one));
        if let Some(begun) = life.begun().filter(|_| is_inside && before != Some(life.stack)) {
            made.entry(life.stack).or_default().push(begun);
        }
        before = if is_inside { Some(life.stack) } else { before };
    }
    for without in [inner, &[]] {
        let plain: BTreeSet<StackId> = made.keys().copied().filter(|stack| view.is_outside(*stack, without)).collect();
        if made.iter().any(|(stack, events)| plain.contains(stack) && events.len() > 1) {
            made.retain(|stack, _| plain.contains(stack));
            return made;
        }
    }
    if made.len() == 1 {
        for (stack, events) in &mut made {
            let all = view.trace.history.lifetimes().iter();
            let kept = all.filter(|life| life.stack == *stack && life.is_live_after(end));
            *events = kept.filter_map(Life::begun).collect();
        }
    }
    made
}
