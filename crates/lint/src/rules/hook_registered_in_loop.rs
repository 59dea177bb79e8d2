//! A hook more with every step.

use super::{Found, Rule};
use crate::finding::Effect;
use crate::semantics::{Model, Value};
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("hook-registered-in-loop"),
    effect: Effect::Grows,
    summary: "a hook that is registered with every step",
    help: "register it once before the loop, or `remove()` the handle it gives",
    cause: Some("growing-collection"),
    check,
};

fn check(model: &Model<'_>, found: &mut Found) {
    let methods =
        ["register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook", "register_backward_hook"];
    for call in model.calls().iter().filter(|call| model.is_statement(call)) {
        let Some((module, _)) = call.method().filter(|(_, method)| methods.contains(method)) else { continue };
        let Some(around) = model.made_in_each_step(call) else { continue };
        let is_lasting = model.value(module) == Value::Module && model.outlives_step(module, around);
        if is_lasting {
            found.at(
                call.syntax,
                "the module gets one more hook with every step: each keeps what it refers to, and all of them run",
            );
        }
    }
}
