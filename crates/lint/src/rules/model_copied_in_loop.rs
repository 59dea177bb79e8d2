//! `copy.deepcopy(model)` while training.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::{Expr, Stmt};

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{RegionKind, Syntax};
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
        let is_of_model = model.is_model(copied) || model.weights(copied).is_some() || gives_state(model, call);
        if is_of_model && is_kept(model, call) && !is_restored_best(model, call) && model.runs_in_training(call.region)
        {
            let message = format!(
                "the copy of `{}` stays on the same device: a second set of weights on the GPU",
                model.source(copied)
            );
            matches.add(call.syntax, message);
        }
    }
}

/// Checks whether the state of the copy is taken: `deepcopy(average).to(dtype).state_dict()`.
fn gives_state(model: &Model<'_>, call: &Call<'_>) -> bool {
    let mut id = call.id;
    for _ in 0..6 {
        id = model.node(id).parent;
        match model.node(id).syntax {
            Syntax::Expression(Expr::Attribute(it)) if it.attr.as_str() == "state_dict" => return true,
            Syntax::Expression(Expr::Attribute(_) | Expr::Call(_)) => {}
            _ => return false,
        }
    }
    false
}

/// Checks for the one best state, kept under a condition and loaded again after training.
fn is_restored_best<'a>(model: &Model<'a>, call: &Call<'a>) -> bool {
    let compares =
        model.regions(call.region).any(|kind| matches!(kind, RegionKind::If(it, true) if it.test.is_compare_expr()));
    let function = model.function(call.region);
    let name = match model.statement(call.id).map(|(_, it)| it) {
        Some(Stmt::Assign(it)) => it.targets.first().and_then(|target| match (target, &*it.value) {
            (Expr::Name(_), _) => Some(target),
            (Expr::Tuple(targets), Expr::Tuple(values)) => {
                let pairs = targets.elts.iter().zip(&values.elts);
                pairs.filter(|(_, value)| model.id(*value) == Some(call.id)).map(|(target, _)| target).next()
            }
            _ => None,
        }),
        _ => None,
    };
    let Some(name) = name.filter(|it| compares && it.is_name_expr()).map(|it| model.source(it)) else { return false };
    let mut restored =
        model.calls_between(model.body(function)).iter().filter(|call| call.is_method("load_state_dict"));
    restored.any(|it| it.syntax.arguments.args.first().is_some_and(|it| model.source(it) == name))
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
            Syntax::Expression(Expr::Attribute(it)) if keeps_device(it.attr.as_str()) || it.attr.as_str() == "to" => {}
            Syntax::Expression(parent) => {
                let Some(around) = model.call(parent) else { return false };
                match around.method() {
                    Some((_, "append" | "appendleft")) => return around.path.is_none(),
                    Some((_, method)) if keeps_device(method) => {}
                    Some((_, "to")) if !leaves_gpu(model, around) => {}
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
    let is_collected = |it: &Call<'_>| {
        let is_part = |it: &Expr| is_name(it) || it.as_tuple_expr().is_some_and(|it| it.elts.iter().any(is_name));
        it.is_method("append") && it.syntax.arguments.args.iter().any(is_part)
    };
    model.calls_between(model.body(function)).iter().any(is_collected)
        || model.statements().filter(|(id, _)| model.function(model.node(*id).region) == function).any(|(_, it)| {
            let Stmt::Assign(it) = it else { return false };
            is_name(&it.value) && it.targets.iter().any(|target| !target.is_name_expr())
        })
}

/// `.to("cpu")`, `.to(device="cpu")`
fn leaves_gpu(model: &Model<'_>, call: &Call<'_>) -> bool {
    let text = model.source(&call.syntax.arguments);
    ["cpu", "meta"].iter().any(|word| text.contains(word))
}

fn keeps_device(method: &str) -> bool {
    matches!(method, "state_dict" | "eval" | "train" | "requires_grad_" | "half" | "float" | "bfloat16" | "cuda")
}
