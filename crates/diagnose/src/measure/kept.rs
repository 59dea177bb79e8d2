//! Why something survives its step, as far as the stacks that made it tell.
//!
//! # Note [Kept]
//! - Tensors of several earlier steps that are let go of all at once were held by nothing but themselves: the garbage
//!   collector found them. (A list that is cleared looks alike; the finding says so.)
//! - A graph that is kept keeps every tensor that its forward saved: one call of the user's leaves tensors behind that
//!   different lines of the library made.
//! - One tensor that a module's own code or a hook made was put aside there.
//! - All else is in a collection.

use std::collections::{BTreeMap, BTreeSet};

use trace::StackId;

use super::growth::Survivors;
use super::leaks::{Burst, bursts};
use super::view::View;

/// Why something survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// It refers to itself.
    Cycle,
    /// A result is kept with its graph.
    Graph,
    /// A module or a hook puts it aside.
    Intermediate,
    /// A collection holds it.
    Collection,
}

/// Why they survive. See Note [Kept].
pub(crate) fn kept(view: &View, survivors: &[Survivors]) -> Kept {
    let stacks: BTreeSet<StackId> = survivors.iter().flat_map(|line| line.stacks.iter().copied()).collect();
    if cycles(view, &stacks).is_some() {
        return Kept::Cycle;
    }
    if has_graph(view, &stacks) {
        return Kept::Graph;
    }
    let first = survivors.first().and_then(|line| line.stacks.first().copied());
    if first.is_some_and(|stack| view.own_line_is_inside_module(stack)) { Kept::Intermediate } else { Kept::Collection }
}

/// The largest of the bursts that freed what `stacks` had made.
pub(crate) fn cycles(view: &View, stacks: &BTreeSet<StackId>) -> Option<Burst> {
    let of_them = bursts(view).into_iter().filter(|burst| !burst.stacks.is_disjoint(stacks));
    of_them.max_by_key(|burst| burst.bytes)
}

/// Whether one call of the user's left tensors behind that two or more lines under it made, three in all.
fn has_graph(view: &View, stacks: &BTreeSet<StackId>) -> bool {
    let mut calls: BTreeMap<(String, u32), BTreeSet<(String, u32)>> = BTreeMap::new();
    for &stack in stacks {
        if let (Some(call), Some(inner)) = (view.call_line(stack), view.innermost(stack)) {
            calls.entry(call).or_default().insert(inner);
        }
    }
    calls.values().any(|inner| inner.len() >= 2)
}
