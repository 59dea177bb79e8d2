//! `growing-collection`: tensors are kept in a list, a dict, a cache or an exporter, step after step.
//!
//! Role growth, order 150.
//!
//! A loss or an output that is kept after its backward costs only its own bytes: backward has freed the tensors that its
//! graph saved. Such a tensor is a growing collection, not a retained graph.

use causes::CauseId;

use super::growth::{Remedied, find_growth};
use super::input::Facts;
use super::rule::{Cause, Check, Rule};
use crate::measure::retention::Retention;

const CHANGE: Remedied = (
    "keep a number, or a detached copy on the CPU, instead of the tensor",
    "use .item() or .detach().cpu() where the result is stored",
);

pub(super) const RULE: Rule = Rule { cause: CauseId::GrowingCollection, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    find_growth(facts, Retention::Collection, RULE.cause, CHANGE)
}
