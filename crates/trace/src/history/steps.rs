//! The steps of a program, found by repetition in its history, and the blocks that survive each step.

// Note [Steps without marks]
// ~~~~~~~~~~~~~~~~~~~~~~~~~~
// A training step repeats the same lines. Each allocation is a symbol: its stack, or its size if no stacks were
// recorded. A symbol that recurs at even distances has the period of some loop: over steps, over the layers within a
// step, or over every tenth step. The step is the shortest loop that contains (almost) all recurring symbols, or all
// symbols of the optimizer if there are any. This rule excludes the loop over layers, the loop over micro-batches, and
// the loop with an evaluation in it. If a history has only one forward, the loop over its layers is the only loop; this
// case is recognised by the module calls around it. Among the symbols with the step's period, the one at which the
// least memory is allocated marks the beginning of the step: after zero_grad and before forward.

mod beats;

use rustc_hash::FxHashSet;

use self::beats::{Beat, Symbols};
use super::History;
use super::lifetime::{Lifetime, Moment};
use crate::bytes::Bytes;
use crate::event::{Action, Event};
use crate::ids::{EventIndex, Time};
use crate::stack::{Frame, StackId, StackTable};

/// The first events of the steps of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    first_events: Vec<EventIndex>,
}

/// A step, with the memory at its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The first event.
    pub first: EventIndex,
    /// The first event of the next step, or the end of the history.
    pub end: EventIndex,
    /// The allocated memory just before the first event.
    pub allocated_before: Bytes,
    /// The peak of allocated memory within the step.
    pub allocated_peak: Bytes,
}

impl Steps {
    /// Steps that begin with these events.
    pub fn new(mut first_events: Vec<EventIndex>) -> Steps {
        first_events.sort_unstable();
        first_events.dedup();
        Steps { first_events }
    }

    /// Steps that begin at these times: each with the first event that is not earlier. Events without a time are
    /// skipped.
    pub fn at_times(events: &[Event], times: impl IntoIterator<Item = Time>) -> Steps {
        let first = |time: Time| events.partition_point(|event| event.time.is_none_or(|at| at < time));
        let first_events = times.into_iter().map(first).filter(|&index| index < events.len());
        Steps::new(first_events.filter_map(|index| u32::try_from(index).ok()).map(EventIndex).collect())
    }

    /// The first events of the steps.
    pub fn first_events(&self) -> &[EventIndex] {
        &self.first_events
    }

    /// The steps, each with the memory at its start. The last step may be cut off by the end of the history.
    pub fn with_memory(&self, history: &History) -> Vec<Step> {
        let end = EventIndex(u32::try_from(history.event_count()).unwrap_or(u32::MAX));
        let ends = self.first_events.iter().skip(1).copied().chain(std::iter::once(end));
        let mut steps: Vec<Step> = Vec::with_capacity(self.first_events.len());
        let (mut before, mut spans) = (history.at_start().allocated, self.first_events.iter().zip(ends).peekable());
        for (event, totals) in (0..).map(EventIndex).zip(history.totals()) {
            if let Some((&first, end)) = spans.next_if(|(first, _)| **first == event) {
                steps.push(Step { first, end, allocated_before: before, allocated_peak: Bytes::ZERO });
            }
            if let Some(step) = steps.last_mut() {
                step.allocated_peak = step.allocated_peak.max(totals.allocated);
            }
            before = totals.allocated;
        }
        steps
    }

    /// The survivors of step `step`, counted from 0: blocks allocated in the step and still allocated at the end of the
    /// next. Empty if no whole step follows.
    pub fn survivors<'a>(&self, history: &'a History, step: usize) -> impl Iterator<Item = &'a Lifetime> + use<'a> {
        let at = |index: usize| self.first_events.get(index).map(|event| Moment::after(*event));
        let bounds = at(step).zip(at(step + 1)).zip(at(step + 2));
        bounds.into_iter().flat_map(move |((from, to), after)| {
            let begun = |moment: Moment| history.lifetimes.partition_point(|life| life.begun < moment);
            let made = &history.lifetimes[begun(from)..begun(to)];
            made.iter().filter(move |life| life.free_requested >= after)
        })
    }
}

impl History {
    /// The steps of the program, if `events` repeat. See Note [Steps without marks].
    pub fn find_steps(&self, events: &[Event], stacks: &StackTable) -> Option<Steps> {
        let stacked = has_many_stacks(events);
        let made = list_symbols(events, stacked);
        let symbols = Symbols::new(made.iter().map(|&(_, symbol)| symbol));
        let is_optimizer = |symbol| stacked && frames(symbol, stacks).any(is_of_optimizer);
        let step = symbols.step(is_optimizer, |turn| stacked && is_inside_a_model(turn, stacks))?;
        let allocated = self.allocated_before(&made);
        let lowest = step.beats.iter().min_by_key(|beat| mean(beat, &allocated))?;
        let first_events = lowest.places.iter().filter_map(|&place| Some(made.get(place as usize)?.0));
        Some(Steps::new(first_events.collect()))
    }

    /// The allocated memory just before each of these events.
    fn allocated_before(&self, made: &[(EventIndex, u64)]) -> Vec<Bytes> {
        let mut wanted = made.iter().peekable();
        let mut now = self.at_start().allocated;
        let mut allocated = Vec::with_capacity(made.len());
        for (event, totals) in (0..).map(EventIndex).zip(self.totals()) {
            if wanted.next_if(|(index, _)| *index == event).is_some() {
                allocated.push(now);
            }
            now = totals.allocated;
        }
        allocated
    }
}

/// The informative allocations, each with its symbol.
fn list_symbols(events: &[Event], stacked: bool) -> Vec<(EventIndex, u64)> {
    let allocs = (0..).map(EventIndex).zip(events).filter(|(_, event)| event.action == Action::Alloc);
    let told = allocs.filter(|(_, event)| !stacked || event.stack != StackId::EMPTY);
    told.map(|(index, event)| (index, if stacked { u64::from(event.stack.0) } else { event.size.0 })).collect()
}

/// Tests that stacks distinguish allocations. With few stacks, as in recordings of C++ frames only, sizes are better.
fn has_many_stacks(events: &[Event]) -> bool {
    const MANY: usize = 8;
    let mut seen: FxHashSet<StackId> = FxHashSet::default();
    let stacks = events.iter().filter(|event| event.action == Action::Alloc).map(|event| event.stack);
    for stack in stacks.filter(|&stack| stack != StackId::EMPTY) {
        seen.insert(stack);
        if seen.len() >= MANY {
            return true;
        }
    }
    false
}

/// Tests for a loop over layers: two module calls, the model's and one within it, surround the whole loop.
fn is_inside_a_model(turn: &[u64], stacks: &StackTable) -> bool {
    let stacks = turn.iter().map(|&symbol| frames(symbol, stacks));
    let mut outside_in = stacks.map(|frames| frames.rev().filter(|frame| is_python(frame)).collect::<Vec<&Frame>>());
    let Some(mut around) = outside_in.next() else {
        return false;
    };
    for frames in outside_in {
        let same = around.iter().zip(&frames).take_while(|(one, other)| one == other).count();
        around.truncate(same);
    }
    around.iter().filter(|frame| frame.function == "_call_impl").count() >= 2
}

/// The frames of the stack of a symbol.
fn frames(symbol: u64, stacks: &StackTable) -> impl DoubleEndedIterator<Item = &Frame> {
    stacks.frames(StackId(u32::try_from(symbol).unwrap_or_default()))
}

/// Recognises PyTorch's own optimizers; the names of others are unknown.
fn is_of_optimizer(frame: &Frame) -> bool {
    ["torch/optim/", "torch\\optim\\"].iter().any(|folder| frame.file.contains(folder))
}

/// C++ frames are mixed with Python's in no certain order.
fn is_python(frame: &Frame) -> bool {
    std::path::Path::new(&frame.file).extension().is_some_and(|extension| extension == "py")
}

fn mean(beat: &Beat, allocated: &[Bytes]) -> u64 {
    let at: Vec<u64> = beat.places.iter().filter_map(|&place| Some(allocated.get(place as usize)?.0)).collect();
    let sum: u128 = at.iter().map(|&bytes| u128::from(bytes)).sum();
    u64::try_from(sum / at.len().max(1) as u128).unwrap_or(u64::MAX)
}
