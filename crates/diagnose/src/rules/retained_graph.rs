//! `retained-graph`: a result is kept with the graph that made it, and with it every tensor that its forward saved.

use report::RuleId;

use super::Cause;
use super::growth::{self, Change};
use crate::facts::Facts;
use crate::measure::kept::Kept;

const CHANGE: Change = (
    "keep the result without its graph",
    "use .item() or .detach() where the result is stored, or compute it under torch.no_grad()",
);

pub(super) fn find(facts: &Facts) -> Option<Cause> {
    growth::find(facts, Kept::Graph, RuleId("retained-graph"), CHANGE)
}
