//! A DataLoader without workers.

use super::{Found, Rule};
use crate::finding::Effect;
use crate::semantics::Model;
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("workers-unset"),
    effect: Effect::Style,
    summary: "a DataLoader whose `num_workers` is not set",
    help: "set `num_workers`: with none the GPU waits for each batch",
    cause: Some("host-memory"),
    check,
};

fn check(model: &Model<'_>, found: &mut Found) {
    for call in model.calls().iter().filter(|call| call.is("torch.utils.data.DataLoader")) {
        if call.argument("num_workers", 5).is_none() && !call.has_unpacked() {
            found.at(call.syntax, "batches are loaded by the process that trains, while the GPU waits");
        }
    }
}
