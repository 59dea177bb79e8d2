//! `retained-graph`: a result is kept with its autograd graph, and with every tensor that its forward saved.
//!
//! Role growth, order 140.

use causes::CauseId;

use crate::measure::retention::Retention;
use crate::rules::facts::input::Facts;
use crate::rules::families::growth::{Remedied, find_growth};
use crate::rules::rule::{Cause, Check, Rule};

const CHANGE: Remedied = (
    "keep the result without its graph",
    "use .item() or .detach() where the result is stored, or compute it under torch.no_grad()",
);

pub(super) const RULE: Rule = Rule { cause: CauseId::RetainedGraph, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    find_growth(facts, Retention::Graph, RULE.cause, CHANGE)
}
