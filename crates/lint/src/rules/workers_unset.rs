//! A DataLoader without workers.

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::Model;
use causes::CauseId;
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("workers-unset"),
    effect: MemoryEffect::Style,
    summary: "a DataLoader without `num_workers`",
    help: "set `num_workers`: without workers the GPU waits for each batch",
    cause: Some(CauseId::HostMemory),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls().iter().filter(|call| call.is("torch.utils.data.DataLoader")) {
        if call.argument("num_workers", 5).is_none() && !call.has_unpacked() {
            matches.add(call.syntax, "the training process loads the batches itself while the GPU waits");
        }
    }
}
