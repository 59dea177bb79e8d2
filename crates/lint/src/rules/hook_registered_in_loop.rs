//! A hook registered in every step.

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::{Call, Model, ValueKind};
use causes::CauseId;
use report::RuleId;
use ruff_python_ast::{Expr, Stmt};

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
    let removes = model.calls().iter().any(|call| is_removal(model, call));
    for call in model.calls() {
        let is_global = is_for_all_modules(call);
        if !is_global && !call.method().is_some_and(|(_, method)| REGISTER.contains(&method)) {
            continue;
        }
        let is_given_up = model.is_statement(call) || (!removes && is_stored(model, call));
        if is_given_up
            && (is_in_step(model, call)
                || model.is_repeated_on_module(call)
                || (is_global && model.is_repeated_call(call)))
        {
            matches.add(
                call.syntax,
                "each time adds a hook to the same module: all of them run, and each keeps its captured objects alive",
            );
        }
    }
}

/// `register_module_forward_hook(hook)`
fn is_for_all_modules(call: &Call<'_>) -> bool {
    let name = call.path.as_deref().and_then(|path| path.strip_prefix("torch.nn.modules.module."));
    name.is_some_and(|it| it.starts_with("register_module_") && it.ends_with("_hook"))
}

/// Checks for `handle.remove()` in code that runs: outside of functions, or in a function that anything calls.
fn is_removal(model: &Model<'_>, call: &Call<'_>) -> bool {
    if !call.is_method("remove") || !call.syntax.arguments.is_empty() {
        return false;
    }
    let Some(function) = model.function(call.region) else { return true };
    let name = model.tree.functions[function.index()].syntax.name.as_str();
    let refers = |it: &Expr| match it {
        Expr::Name(it) => it.id.as_str() == name,
        Expr::Attribute(it) => it.attr.as_str() == name,
        _ => false,
    };
    let is_called = matches!(name, "forward" | "training_step" | "main") || is_called_elsewhere(name);
    name.starts_with("__") || is_called || model.all_expressions().any(refers)
}

/// Checks for a name that code outside of the program may call.
fn is_called_elsewhere(name: &str) -> bool {
    ["remove", "detach", "clear", "reset", "unregister"].iter().any(|word| name.contains(word))
        || name.starts_with("on_")
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
