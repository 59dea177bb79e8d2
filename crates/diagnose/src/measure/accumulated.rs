//! Memory that a few passes of a loop left, one after the other.
//!
//! # Note [Accumulated]
//! Growth from pass to pass (Note `[Passes]`) needs many passes. A loop over eight micro-batches whose outputs stay in a list until the step ends
//! has few, and fills the device as well. Layers of one forward look alike, but a backward frees their tensors later: the run without a limit
//! shows the frees.

use std::collections::{BTreeMap, BTreeSet};

use trace::{Bytes, EventIndex, Lifetime, LifetimeId, Moment, Phase, StackId};

use super::fate::Fate;
use super::growth::{Survivors, stays};
use super::iterations::Iterations;
use super::life::Life;
use super::view::View;

/// Fewer passes show no growth: a variable may hold the last result.
const LEAST_PASSES: usize = 3;
/// Between gaps, growth of less than 1/50 of the memory is no cause.
const LEAST_SHARE: u64 = 50;

/// The tensors that the earlier passes of a loop left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Accumulated {
    /// Each with the last event of its pass.
    pub(crate) kept: Vec<(LifetimeId, EventIndex)>,
    /// By the line of the loop's body.
    pub(crate) survivors: Vec<Survivors>,
    /// The median of the bytes of a pass.
    pub(crate) bytes_per_pass: Bytes,
    /// The number of passes before the one of the moment.
    pub(crate) passes: usize,
}

/// Returns the tensors of a loop, if every earlier pass left a part and no backward frees them later. See Note [Accumulated].
pub(crate) fn find_accumulated(view: &View, level: &Iterations, moment: Moment, fate: &Fate) -> Option<Accumulated> {
    let passes = level.number(moment.event_before()?)?;
    let is_left = |(id, life, contents): &(LifetimeId, &Lifetime, report::Contents)| {
        let is_earlier = level.of(life).is_some_and(|pass| pass < passes);
        is_earlier && !stays(*contents) && !is_for_backward(fate, *id)
    };
    let left: Vec<_> = view.live_with_ids(moment).filter(is_left).collect();
    let mut of_pass: BTreeMap<usize, Bytes> = BTreeMap::new();
    let mut stacks: BTreeMap<StackId, (Survivors, BTreeSet<usize>)> = BTreeMap::new();
    for (_, life, _) in &left {
        let pass = level.of(life)?;
        *of_pass.entry(pass).or_default() += life.block();
        let (survivors, seen) = stacks.entry(life.stack).or_default();
        survivors.add(life);
        seen.insert(pass);
    }
    let bytes_per_pass = Bytes::median(of_pass.values().copied().collect())?;
    let is_even = of_pass.values().all(|bytes| bytes.0.saturating_mul(2) >= bytes_per_pass.0);
    let is_whole = level.at.is_some() && of_pass.len() >= LEAST_PASSES && of_pass.len() == passes;
    (is_even && is_whole).then(|| Accumulated {
        kept: left.iter().filter_map(|(id, life, _)| Some((*id, level.last_event(level.of(life)?)?))).collect(),
        survivors: by_line(view, level, stacks.into_iter().map(|(stack, (survivors, _))| (stack, survivors))),
        bytes_per_pass,
        passes,
    })
}

/// True for a tensor that a backward frees later, and for a tensor without a pair in the run without a limit.
fn is_for_backward(fate: &Fate, id: LifetimeId) -> bool {
    let freed = |life: &Lifetime| life.freed().is_some_and(|at| fate.later.timeline.phase(at) == Some(Phase::Backward));
    fate.life(id.0 as usize).is_none_or(freed)
}

fn by_line(view: &View, level: &Iterations, stacks: impl Iterator<Item = (StackId, Survivors)>) -> Vec<Survivors> {
    let mut lines = BTreeMap::new();
    for (stack, survivors) in stacks {
        let line = level.line_of(view, stack).or_else(|| view.call_location(stack));
        lines.entry(line).or_insert_with(Survivors::default).merge(survivors);
    }
    let mut lines: Vec<Survivors> = lines.into_iter().map(|(location, left)| Survivors { location, ..left }).collect();
    lines.sort_by_key(|line| std::cmp::Reverse(line.bytes));
    lines
}

/// True if the device serves the last refused request without the kept tensors.
pub(crate) fn is_served_without(
    view: &View,
    kept: &[(LifetimeId, EventIndex)],
    usable: Bytes,
    requested: Bytes,
) -> bool {
    let Some(error) = view.trace.last_oom() else { return false };
    let lives = view.trace.history.lifetimes();
    let kept: Bytes = kept.iter().filter_map(|(id, _)| Some(lives.get(id.0 as usize)?.block())).sum();
    let wanted = view.live_total(error) + requested;
    // Between gaps any free block may serve the request.
    let is_much = wanted > usable || kept.0.saturating_mul(LEAST_SHARE) >= usable.0;
    is_much && wanted - kept <= usable
}
