//! `checkpoint` without `use_reentrant`.

use super::{Found, Rule, fix};
use crate::finding::{Applicability, Effect};
use crate::semantics::Model;
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("checkpoint-without-use-reentrant"),
    effect: Effect::Style,
    summary: "`checkpoint` without `use_reentrant`",
    help: "pass `use_reentrant=False`",
    cause: None,
    check,
};

fn check(model: &Model<'_>, found: &mut Found) {
    let functions = ["torch.utils.checkpoint.checkpoint", "torch.utils.checkpoint.checkpoint_sequential"];
    for call in model.calls().iter().filter(|call| call.is_any(&functions)) {
        if call.keyword("use_reentrant").is_none() && !call.has_unpacked() {
            let message = "without `use_reentrant` PyTorch warns and takes the reentrant variant: a block none of whose inputs requires a \
                           gradient gets none, and recomputation always runs to the block's end";
            found.at(call.syntax, message).fix =
                fix::add_keyword(model, call.syntax, "use_reentrant=False", Applicability::Unsafe);
        }
    }
}
