//! A hook registered in every step.

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::{Model, ValueKind};
use causes::CauseId;
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("hook-registered-in-loop"),
    effect: MemoryEffect::Grows,
    summary: "a hook registered in every step",
    help: "register the hook once before the loop, or call `remove()` on its handle",
    cause: Some(CauseId::GrowingCollection),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    let methods =
        ["register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook", "register_backward_hook"];
    for call in model.calls().iter().filter(|call| model.is_statement(call)) {
        let Some((module, _)) = call.method().filter(|(_, method)| methods.contains(method)) else { continue };
        let Some(around) = model.made_in_each_step(call) else { continue };
        let is_lasting = model.value(module) == ValueKind::Module && model.outlives_step(module, around);
        if is_lasting {
            matches.add(
                call.syntax,
                "every step adds a hook to the module: all of them run, and each keeps its captured objects alive",
            );
        }
    }
}
