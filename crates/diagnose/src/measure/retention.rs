//! The reason why survivors of a step are alive, as far as their stacks show it.
//!
//! # Note [Retention]
//! - Tensors of several earlier steps that are freed all at once were in reference cycles: the garbage collector found
//!   them. (Clearing a list looks alike; the finding states the ambiguity.)
//! - A retained graph keeps every saved tensor of its forward: no Python object refers to them, as far as the agent looked; without the agent,
//!   one call in the user's code leaves tensors of different library lines.
//! - A single tensor of a module's own code or of a hook is a saved intermediate.
//! - All other survivors are in a collection.

use std::collections::{BTreeMap, BTreeSet};

use trace::{Bytes, Lifetime, StackId};

use super::growth::Survivors;
use super::leaks::{Burst, bursts};
use super::life::Life;
use super::view::View;

/// The reasons for retention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retention {
    /// The tensors are in a reference cycle.
    Cycle,
    /// A result is kept with its autograd graph.
    Graph,
    /// A module or a hook stores the tensor.
    Intermediate,
    /// A collection contains the tensors.
    Collection,
}

/// Returns the reason for retention. See Note [Retention].
pub(crate) fn find_retention(view: &View, survivors: &[Survivors]) -> Retention {
    let stacks: BTreeSet<StackId> = survivors.iter().flat_map(|line| line.stacks.iter().copied()).collect();
    if cycles(view, &stacks).is_some() {
        return Retention::Cycle;
    }
    if are_unseen(view, &stacks).unwrap_or_else(|| has_graph(view, &stacks)) {
        return Retention::Graph;
    }
    let first = survivors.first().and_then(|line| line.stacks.first().copied());
    if first.is_some_and(|stack| view.own_line_is_inside_module(stack)) {
        Retention::Intermediate
    } else {
        Retention::Collection
    }
}

/// Returns the largest burst of frees of allocations by `stacks`.
pub(crate) fn cycles(view: &View, stacks: &BTreeSet<StackId>) -> Option<Burst> {
    let of_them = bursts(view).into_iter().filter(|burst| !burst.stacks.is_disjoint(stacks));
    of_them.max_by_key(|burst| burst.bytes)
}

/// Checks that no Python object refers to most of the survivors' bytes at the error; `None` without a record of the agent. Autograd keeps them.
fn are_unseen(view: &View, stacks: &BTreeSet<StackId>) -> Option<bool> {
    view.trace.process.visible.as_ref()?;
    let mut live = view.live_after(view.trace.last_oom()?).filter(|(life, _)| stacks.contains(&life.stack)).peekable();
    live.peek()?;
    Some(is_unseen(view, live.map(|(life, _)| life)))
}

/// Checks that no Python object refers to most of the bytes of tensors at the error; false without a record of the agent.
pub(crate) fn is_unseen<'v>(view: &View, lives: impl Iterator<Item = &'v Lifetime>) -> bool {
    let Some(visible) = &view.trace.process.visible else { return false };
    let seen: BTreeSet<u64> = visible.addresses.iter().copied().collect();
    let (mut unseen, mut total) = (Bytes::ZERO, Bytes::ZERO);
    for life in lives {
        total += life.block();
        unseen += if seen.contains(&life.address().0) { Bytes::ZERO } else { life.block() };
    }
    unseen.0.saturating_mul(2) > total.0
}

/// Checks that one call in the user's code left three or more tensors, allocated by two or more library lines.
fn has_graph(view: &View, stacks: &BTreeSet<StackId>) -> bool {
    let mut calls: BTreeMap<(String, u32), BTreeSet<(String, u32)>> = BTreeMap::new();
    for &stack in stacks {
        if let (Some(call), Some(inner)) = (view.call_line(stack), view.innermost(stack)) {
            calls.entry(call).or_default().insert(inner);
        }
    }
    calls.values().any(|inner| inner.len() >= 2)
}
