//! Leaks: lines whose tensors survive step after step.
//!
//! # Note [Leaks]
//! Parameters, gradients and optimizer state survive too, but steps add nothing to them. A line leaks if its tensors
//! of most steps are alive at the end (of the history, or at the error), long after their step. Tensors of the last
//! two steps are not counted, because a program may keep one step's results during the next step.

use std::collections::{BTreeMap, BTreeSet};

use report::Location;
use trace::{Action, Bytes, EventIndex, Moment, StackId};

use super::growth::{Survivors, stays};
use super::life::Life;
use super::view::View;

/// A leak needs survivors of at least this many steps.
const STEPS: u32 = 3;

/// The survivors of a line or a stack, and their steps.
type Left = (Survivors, BTreeSet<u32>);

/// The leaking lines and the rate of the leak.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leaks {
    /// The lines, most bytes first.
    pub(crate) lines: Vec<Survivors>,
    /// The median of the bytes left per step.
    pub(crate) per_step: Bytes,
    /// The first step with survivors.
    pub(crate) first_step: u32,
}

/// Returns the leaks of `view`, counted at `at`. See Note [Leaks].
pub(crate) fn leaks(view: &View, at: Moment) -> Option<Leaks> {
    let last = view.timeline.step(at.event_before()?)?;
    let mut stacks: BTreeMap<StackId, Left> = BTreeMap::new();
    let mut per_step: BTreeMap<u32, Bytes> = BTreeMap::new();
    for (life, _) in view.live_after(at).filter(|(_, contents)| !stays(*contents)) {
        if let Some(step) = view.step_of(life).filter(|&step| step + 2 <= last) {
            let (leak, steps) = stacks.entry(life.stack).or_default();
            leak.add(life);
            steps.insert(step);
            *per_step.entry(step).or_default() += life.block();
        }
    }
    let leaking = by_line(view, stacks).into_iter().filter(|(_, steps)| enough(steps, last.saturating_sub(2)));
    let lines: Vec<Survivors> = leaking.map(|(leak, _)| leak).collect();
    (!lines.is_empty()).then(|| Leaks {
        lines,
        per_step: Bytes::median(per_step.values().copied().collect()).unwrap_or_default(),
        first_step: per_step.keys().next().copied().unwrap_or(1),
    })
}

/// Joins the survivors of each stack by the user's line, most bytes first.
fn by_line(view: &View, stacks: BTreeMap<StackId, Left>) -> Vec<Left> {
    let mut lines: BTreeMap<(Option<Location>, Option<StackId>), Left> = BTreeMap::new();
    for (stack, (survivors, steps)) in stacks {
        let location = view.own_line(stack);
        let key = (location.clone(), location.is_none().then_some(stack));
        let (line, seen) = lines.entry(key).or_default();
        line.location = location;
        line.merge(survivors);
        seen.extend(steps);
    }
    let mut lines: Vec<Left> = lines.into_values().collect();
    lines.sort_by_key(|(survivors, _)| std::cmp::Reverse(survivors.bytes));
    lines
}

/// Checks that most steps up to the last counted step left survivors.
fn enough(steps: &BTreeSet<u32>, seen: u32) -> bool {
    let (Some(&first), Some(&last)) = (steps.first(), steps.last()) else {
        return false;
    };
    let between = last - first + 1;
    count(steps) >= STEPS && count(steps) * 2 > between && last + 1 >= seen
}

fn count(steps: &BTreeSet<u32>) -> u32 {
    u32::try_from(steps.len()).unwrap_or(u32::MAX)
}

/// A burst of frees: tensors of several earlier steps, freed at once as by the garbage collector.
#[derive(Clone, Debug, Default)]
pub(crate) struct Burst {
    /// The first free.
    pub(crate) event: Option<EventIndex>,
    /// The freed bytes.
    pub(crate) bytes: Bytes,
    /// The number of freed allocations.
    pub(crate) count: u64,
    /// The allocating steps.
    pub(crate) steps: BTreeSet<u32>,
    /// The allocating stacks.
    pub(crate) stacks: BTreeSet<StackId>,
}

/// Returns the bursts of frees between two allocations, with tensors of [`STEPS`] or more earlier steps.
pub(crate) fn bursts(view: &View) -> Vec<Burst> {
    let (mut bursts, mut open) = (Vec::new(), Burst::default());
    for (index, event) in (0..).map(EventIndex).zip(view.trace.events) {
        match event.action {
            Action::Alloc => close(&mut bursts, &mut open),
            Action::FreeRequested => free(view, index, &mut open),
            _ => {}
        }
    }
    close(&mut bursts, &mut open);
    bursts
}

fn free(view: &View, index: EventIndex, open: &mut Burst) {
    let Some(life) =
        view.trace.history.lifetime_of(index).and_then(|id| view.trace.history.lifetimes().get(id.0 as usize))
    else {
        return;
    };
    let contents = view.trace.history.lifetime_of(index).and_then(|id| view.contents.get(id.0 as usize));
    let (made, now) = (view.step_of(life), view.timeline.step(index));
    let (Some(made), Some(now), Some(false)) = (made, now, contents.map(|contents| stays(*contents))) else {
        return;
    };
    if made < now {
        open.event.get_or_insert(index);
        open.bytes += life.block();
        open.count += 1;
        open.steps.insert(made);
        open.stacks.insert(life.stack);
    }
}

fn close(bursts: &mut Vec<Burst>, open: &mut Burst) {
    let burst = std::mem::take(open);
    if count(&burst.steps) >= STEPS {
        bursts.push(burst);
    }
}
