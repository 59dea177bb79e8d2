//! `growing-collection`: tensors are kept in a list, a dict, a cache or an exporter, step after step.
//!
//! A loss or an output that is kept after its backward costs no more than itself: backward has freed what its graph had
//! saved. So it is found here, not as a retained graph.

use report::RuleId;

use super::Cause;
use super::growth::{self, Change};
use crate::facts::Facts;
use crate::measure::kept::Kept;

const CHANGE: Change = (
    "keep a number, or a detached copy on the CPU, instead of the tensor",
    "use .item() or .detach().cpu() where the result is stored",
);

pub(super) fn find(facts: &Facts) -> Option<Cause> {
    growth::find(facts, Kept::Collection, RuleId("growing-collection"), CHANGE)
}
