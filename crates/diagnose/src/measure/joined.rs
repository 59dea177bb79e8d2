//! Results that each pass joins to all earlier ones, in one tensor that grows: `torch.cat` in a loop.
//!
//! # Note [Joined]
//! Each join allocates the whole and frees the last whole, so that no tensor of an earlier pass is left. A chain of joins is told by its sizes:
//! each allocation of a line is larger than the last one by what the pass adds, and the last one is alive until the join is made. A
//! cache inside a module, as for generation, is none of a program's own.

use std::collections::BTreeMap;

use report::Location;
use trace::{Bytes, Lifetime, LifetimeId, Moment, StackId};

use super::growth::stays;
use super::life::Life;
use super::view::View;

/// Fewer joins may be tensors of several sizes.
const LEAST_JOINS: usize = 4;

/// A chain of joins that is alive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Joined {
    /// The wholes, the last of which is alive.
    pub(crate) lives: Vec<LifetimeId>,
    /// The stack of the joins.
    pub(crate) stack: StackId,
    /// The line outside modules.
    pub(crate) location: Option<Location>,
    /// The bytes of the last whole.
    pub(crate) bytes: Bytes,
    /// The median of the bytes that a pass adds.
    pub(crate) bytes_per_pass: Bytes,
}

/// Returns the chain with most bytes that is alive at the moment. See Note [Joined].
pub(crate) fn find_joined(view: &View, moment: Moment) -> Option<Joined> {
    let mut chains: BTreeMap<StackId, Vec<Chain>> = BTreeMap::new();
    let all = (0..).map(LifetimeId).zip(view.trace.history.lifetimes()).zip(&view.contents);
    for ((id, life), contents) in all.filter(|((_, life), _)| life.begun <= moment) {
        if !stays(*contents) && view.is_outside(life.stack, &[]) {
            add(chains.entry(life.stack).or_default(), id, life);
        }
    }
    let all = chains.into_iter().flat_map(|(stack, chains)| chains.into_iter().map(move |chain| (stack, chain)));
    let found = all.filter_map(|(stack, chain)| chain.joined(view, stack, moment));
    found.max_by_key(|joined| joined.bytes)
}

/// Allocations of one stack, each larger than the last.
#[derive(Default)]
struct Chain<'v> {
    lives: Vec<(LifetimeId, &'v Lifetime)>,
}

/// Adds an allocation to the chain whose last whole it grows from, else to a new one.
fn add<'v>(chains: &mut Vec<Chain<'v>>, id: LifetimeId, life: &'v Lifetime) {
    let size = life.requested();
    let grows = |chain: &&mut Chain| {
        chain.last().is_some_and(|last| {
            let (before, is_alive) = (last.requested(), last.is_live_after(life.begun));
            is_alive && before < size && size.0 <= before.0.saturating_mul(3)
        })
    };
    match chains.iter_mut().filter(grows).max_by_key(|chain| chain.last().map(Life::requested)) {
        Some(chain) => chain.lives.push((id, life)),
        None => chains.push(Chain { lives: vec![(id, life)] }),
    }
}

impl<'v> Chain<'v> {
    fn last(&self) -> Option<&'v Lifetime> {
        self.lives.last().map(|(_, life)| *life)
    }

    /// The finding of an even chain that is alive.
    fn joined(&self, view: &View, stack: StackId, moment: Moment) -> Option<Joined> {
        let last = self.last().filter(|last| last.is_live_after(moment))?;
        let steps = self.lives.windows(2).map(|pair| pair[1].1.requested() - pair[0].1.requested());
        let steps: Vec<Bytes> = steps.collect();
        let bytes_per_pass = Bytes::median(steps.clone())?;
        let is_even = steps.iter().all(|step| step.0 <= bytes_per_pass.0 * 2 && step.0 * 2 >= bytes_per_pass.0);
        (self.lives.len() >= LEAST_JOINS && is_even).then(|| Joined {
            lives: self.lives.iter().map(|(id, _)| *id).collect(),
            stack,
            location: view.call_location(stack),
            bytes: last.requested(),
            bytes_per_pass,
        })
    }
}
