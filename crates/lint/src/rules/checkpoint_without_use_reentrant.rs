//! `checkpoint` without `use_reentrant`.

use crate::edits;
use crate::finding::{Applicability, MemoryEffect};
use crate::rule::{Matches, Rule};
use crate::semantics::Model;
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("checkpoint-without-use-reentrant"),
    effect: MemoryEffect::Style,
    summary: "`checkpoint` without `use_reentrant`",
    help: "pass `use_reentrant=False`",
    cause: None,
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    let functions = ["torch.utils.checkpoint.checkpoint", "torch.utils.checkpoint.checkpoint_sequential"];
    for call in model.calls().iter().filter(|call| call.is_any(&functions)) {
        if call.keyword("use_reentrant").is_none() && !call.has_unpacked() {
            let message = "without `use_reentrant` PyTorch warns and uses the reentrant variant: a block whose \
                          inputs require no gradient computes no gradients, and recomputation always runs to the \
                          end of the block";
            matches.add(call.syntax, message).fix =
                edits::add_keyword(model, call.syntax, "use_reentrant=False", Applicability::Unsafe);
        }
    }
}
