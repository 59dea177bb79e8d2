//! `retained-graph`: a result is kept with its autograd graph, and with every tensor that its forward saved.

use report::RuleId;

use super::growth::{Change, find_growth};
use super::input::Facts;
use super::rule::{Cause, Check, Group, Rule, When};
use crate::measure::retention::Retention;

const CHANGE: Change = (
    "keep the result without its graph",
    "use .item() or .detach() where the result is stored, or compute it under torch.no_grad()",
);

pub(super) const RULE: Rule = Rule {
    id: RuleId("retained-graph"),
    summary: "a result is kept with its autograd graph, and with every tensor that its forward saved",
    when: When::Both(Group::Growth),
    check: Check::One(find),
};

fn find(facts: &Facts) -> Option<Cause> {
    find_growth(facts, Retention::Graph, RULE.id, CHANGE)
}
