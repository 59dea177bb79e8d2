//! Many workers that each load many batches ahead.

use causes::CauseId;
use report::RuleId;

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::Model;

pub(super) const RULE: Rule = Rule {
    id: RuleId("batches-queued-on-the-host"),
    effect: MemoryEffect::Style,
    summary: "a DataLoader whose workers hold hundreds of batches in host memory",
    help: "lower `prefetch_factor` or `num_workers`: a few batches ahead of the GPU are enough",
    cause: Some(CauseId::HostMemory),
    check,
};

/// The smallest number of waiting batches that is reported.
const MANY: i64 = 128;
/// The batches that each worker loads ahead by default.
const DEFAULT: i64 = 2;

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.loader_calls() {
        let Some(workers) = model.given_number(call, "num_workers", 5) else { continue };
        let factor = match call.keyword("prefetch_factor") {
            Some(value) => model.known_number(value),
            None => model.given_number(call, "prefetch_factor", usize::MAX).or(Some(DEFAULT)),
        };
        let Some(waiting) = factor.and_then(|it| it.checked_mul(workers)).filter(|it| *it >= MANY) else { continue };
        matches.add(
            call.syntax,
            format!("{workers} workers hold {waiting} batches in host memory before the GPU asks for them"),
        );
    }
}
