//! `copy.deepcopy(model)` while training.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::{Expr, Stmt};

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::Syntax;
use crate::semantics::{Call, Model};

pub(super) const RULE: Rule = Rule {
    id: RuleId("model-copied-in-loop"),
    effect: MemoryEffect::Wastes,
    summary: "a deep copy of a model or its state in a training loop",
    help: "copy to the CPU: `{k: v.cpu() for k, v in model.state_dict().items()}`",
    cause: Some(CauseId::SavedIntermediates),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls().iter().filter(|call| call.is("copy.deepcopy")) {
        let Some(copied) = call.syntax.arguments.args.first() else { continue };
        let is_of_model = model.is_model(copied) || model.weights(copied).is_some();
        if is_of_model && is_kept(model, call) && model.runs_in_training(call.region) {
            let message = format!(
                "the copy of `{}` stays on the same device: a second set of weights on the GPU",
                model.source(copied)
            );
            matches.add(call.syntax, message);
        }
    }
}

/// Checks whether the copy itself is stored, alone or in a dict, unlike `copy.deepcopy(model).cpu()`.
fn is_kept(model: &Model<'_>, call: &Call<'_>) -> bool {
    let mut id = call.id;
    loop {
        let parent = model.node(id).parent;
        if parent == id {
            return false;
        }
        match model.node(parent).syntax {
            Syntax::Statement(Stmt::Assign(it)) => return it.targets.iter().all(|target| lasts(model, call, target)),
            Syntax::Statement(_) => return false,
            Syntax::Expression(Expr::Dict(_) | Expr::Tuple(_) | Expr::List(_)) => {}
            Syntax::Expression(Expr::Attribute(it)) if keeps_device(it.attr.as_str()) => {}
            Syntax::Expression(parent) => {
                let Some(around) = model.call(parent) else { return false };
                match around.method() {
                    Some((_, "append" | "appendleft")) => return around.path.is_none(),
                    Some((_, method)) if keeps_device(method) => {}
                    _ => return false,
                }
            }
        }
        id = parent;
    }
}

/// Checks whether a target is more than a local name of a function that is called while training: the name ends with the call unless its value
/// is stored.
fn lasts<'a>(model: &Model<'a>, call: &Call<'a>, target: &'a Expr) -> bool {
    let Expr::Name(name) = target else { return true };
    if model.loops(call.region).any(|around| model.is_training_loop(around)) {
        return true;
    }
    let function = model.function(call.region);
    let is_name = |it: &Expr| it.as_name_expr().is_some_and(|it| it.id == name.id);
    let is_collected = |it: &Call<'_>| it.is_method("append") && it.syntax.arguments.args.iter().any(is_name);
    model.calls_between(model.body(function)).iter().any(is_collected)
        || model.statements().filter(|(id, _)| model.function(model.node(*id).region) == function).any(|(_, it)| {
            let Stmt::Assign(it) = it else { return false };
            is_name(&it.value) && it.targets.iter().any(|target| !target.is_name_expr())
        })
}

fn keeps_device(method: &str) -> bool {
    matches!(method, "eval" | "train" | "requires_grad_" | "half" | "float" | "bfloat16" | "cuda")
}
