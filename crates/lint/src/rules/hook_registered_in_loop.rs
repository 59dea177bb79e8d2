//! A hook registered in every step.

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::{Call, Model, ValueKind};
use causes::CauseId;
use report::RuleId;
use ruff_python_ast::Stmt;

pub(super) const RULE: Rule = Rule {
    id: RuleId("hook-registered-in-loop"),
    effect: MemoryEffect::Grows,
    summary: "a hook registered in every step",
    help: "register the hook once before the loop, or call `remove()` on its handle",
    cause: Some(CauseId::GrowingCollection),
    check,
};

/// Methods that register a hook on a module, or on a weight.
const REGISTER: [&str; 6] = [
    "register_forward_hook",
    "register_forward_pre_hook",
    "register_full_backward_hook",
    "register_full_backward_pre_hook",
    "register_backward_hook",
    "register_hook",
];

fn check(model: &Model<'_>, matches: &mut Matches) {
    // Some programs empty the dict of the hooks.
    if model.text.contains("_hooks.clear") || model.text.contains("_hooks = ") {
        return;
    }
    let removes = model.calls().iter().any(|call| call.is_method("remove") && call.syntax.arguments.is_empty());
    for call in model.calls() {
        if !call.method().is_some_and(|(_, method)| REGISTER.contains(&method)) {
            continue;
        }
        let is_given_up = model.is_statement(call) || (!removes && is_stored(model, call));
        if is_given_up && (is_in_step(model, call) || model.is_repeated_on_module(call)) {
            matches.add(
                call.syntax,
                "each time adds a hook to the same module: all of them run, and each keeps its captured objects alive",
            );
        }
    }
}

/// Checks whether the handle is stored: by an assignment, or in a list.
fn is_stored(model: &Model<'_>, call: &Call<'_>) -> bool {
    model.statement(call.id).is_some_and(|(_, it)| matches!(it, Stmt::Assign(_) | Stmt::Expr(_)))
}

fn is_in_step<'a>(model: &Model<'a>, call: &Call<'a>) -> bool {
    let Some((module, method)) = call.method() else { return false };
    let Some(around) = model.made_in_each_step(call) else { return false };
    model.is_statement(call)
        && method != "register_hook"
        && model.value(module) == ValueKind::Module
        && model.outlives_step(module, around)
}
