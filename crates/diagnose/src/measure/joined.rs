//! Results of all passes in one tensor that grows: `torch.cat` in a loop.
//!
//! # Note [Joined]
//! Each join allocates the whole and frees the last whole, so no tensor of an earlier pass remains. The sizes show a chain of joins:
//! each allocation of a line is larger than its predecessor by the bytes of a pass, and the predecessor is alive until the join. A
//! cache inside a module, as for generation, does not count.

use std::collections::BTreeMap;

use report::Location;
use trace::{Bytes, Lifetime, LifetimeId, Moment, StackId};

use super::growth::stays;
use super::life::Life;
use super::view::View;

/// Fewer joins may be tensors of several sizes.
const LEAST_JOINS: usize = 4;
/// The most chains of a stack: tensors in a list make one each.
const MOST_CHAINS: usize = 32;

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

/// Returns the live chain with most bytes at the moment. See Note [Joined].
pub(crate) fn find_joined(view: &View, moment: Moment) -> Option<Joined> {
    let mut chains: BTreeMap<StackId, Vec<JoinChain>> = BTreeMap::new();
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
struct JoinChain<'v> {
    lives: Vec<(LifetimeId, &'v Lifetime)>,
}

/// Adds an allocation to the chain with the largest smaller whole, else to a new chain.
fn add<'v>(chains: &mut Vec<JoinChain<'v>>, id: LifetimeId, life: &'v Lifetime) {
    let size = life.requested();
    // A freed whole is joined to nothing.
    chains.retain(|chain| chain.last().is_some_and(|last| last.is_live_after(life.begun)));
    if chains.len() >= MOST_CHAINS {
        chains.remove(0);
    }
    let grows = |chain: &&mut JoinChain| {
        let before = chain.last().map_or(Bytes::ZERO, Life::requested);
        before < size && size.0 <= before.0.saturating_mul(3)
    };
    match chains.iter_mut().filter(grows).max_by_key(|chain| chain.last().map(Life::requested)) {
        Some(chain) => chain.lives.push((id, life)),
        None => chains.push(JoinChain { lives: vec![(id, life)] }),
    }
}

impl<'v> JoinChain<'v> {
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
