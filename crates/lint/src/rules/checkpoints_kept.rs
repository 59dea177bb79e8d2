//! Copies of the weights collected while training.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::{Expr, Stmt};

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{Binding, FunctionId, LoopId, NodeId, RegionId};
use crate::semantics::{Call, Model, Weights};

pub(super) const RULE: Rule = Rule {
    id: RuleId("checkpoints-kept"),
    effect: MemoryEffect::Style,
    summary: "copies of the weights of a model collected on the GPU",
    help: "save each to disk, or collect copies on the CPU: `{k: v.cpu() for k, v in model.state_dict().items()}`",
    cause: Some(CauseId::GrowingCollection),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    let message = "each copy of the weights stays on the GPU beside the model";
    for call in model.calls().iter().filter(|call| call.is_method("append")) {
        let ([kept], Some((list, _))) = (&*call.syntax.arguments.args, call.method()) else { continue };
        let is_copy = holds_copy(model, kept, call.region) && trains(model, call.region);
        if (is_copy || holds_model_of_round(model, kept, call.region)) && is_growing(model, list) {
            matches.add(kept, message);
        }
    }
    for (id, statement) in model.statements() {
        let Stmt::Assign(it) = statement else { continue };
        let [Expr::Subscript(target)] = it.targets.as_slice() else { continue };
        let region = model.node(id).region;
        let is_named = target.slice.is_string_literal_expr() || target.slice.is_slice_expr();
        if !is_named
            && ((holds_copy(model, &it.value, region) && trains(model, region))
                || holds_model_of_round(model, &it.value, region))
            && is_growing(model, &target.value)
        {
            matches.add(&*it.value, message);
        }
    }
}

/// Checks whether a region runs while the program trains, also by a method whose object has an unknown class.
fn trains(model: &Model<'_>, region: RegionId) -> bool {
    let trains_in = |around: LoopId| {
        let calls = model.calls_between(model.tree.loops[around.index()].body).iter();
        calls.filter(|call| model.callee(call).is_none()).filter_map(|call| model.method_named(call)).any(|function| {
            let work = model.work_of(model.calls_between(model.body(Some(function))));
            work.backwards > 0 && work.steps > 0
        })
    };
    model.runs_in_training(region) || model.loops(region).any(trains_in)
}

/// Checks whether a value holds the model that each round of a loop makes and trains: one for each fold.
fn holds_model_of_round<'a>(model: &Model<'a>, kept: &'a Expr, region: RegionId) -> bool {
    let Some(around) = model.loops(region).find(|it| model.is_training_loop(*it)) else { return false };
    let is_part = |it: &'a Expr| holds_made(model, it, Some(around), 4);
    is_part(kept)
}

fn holds_made<'a>(model: &Model<'a>, value: &'a Expr, around: Option<LoopId>, left: usize) -> bool {
    let Some(left) = left.checked_sub(1) else { return false };
    match value {
        Expr::Tuple(it) => it.elts.iter().any(|it| holds_made(model, it, around, left)),
        Expr::Dict(it) => it.items.iter().any(|it| holds_made(model, &it.value, around, left)),
        Expr::Name(name) => {
            let definition = &model.tree.definitions[model.definition(name).index()];
            let is_inside = around.is_none_or(|it| model.is_region_in(definition.region, it));
            let Binding::Value(made) = definition.binding else { return false };
            let is_model = made.is_call_expr() && !model.source(made).contains("deepcopy") && model.is_model(value);
            let function = model.function(definition.region);
            (is_inside && is_model && is_trained_on_gpu(model, name.id.as_str(), made, function))
                || (is_inside && holds_made(model, made, None, left) && made.is_call_expr())
        }
        Expr::Call(it) => {
            if let Some(function) = model.call(value).and_then(|call| model.callee(call)) {
                let returned = model.tree.functions[function.index()].returned.iter().take(4);
                returned.into_iter().any(|it| holds_made(model, it, None, left))
            } else {
                let name = model.source(&*it.func);
                let is_record = name == "dict" || name.starts_with(|first: char| first.is_ascii_uppercase());
                let mut values = it.arguments.args.iter().chain(it.arguments.keywords.iter().map(|it| &it.value));
                is_record && values.any(|it| holds_made(model, it, around, left))
            }
        }
        _ => false,
    }
}

/// Checks whether a function moves a new model to a GPU, trains the model, and leaves the weights there.
fn is_trained_on_gpu<'a>(model: &Model<'a>, name: &str, made: &'a Expr, function: Option<FunctionId>) -> bool {
    let calls = model.calls_between(model.body(function));
    let is_of_model = |call: &&Call<'a>| {
        call.method().is_some_and(|(it, _)| it.as_name_expr().is_some_and(|it| it.id.as_str() == name))
    };
    let is_moved = model.call(made).is_some_and(|it| model.may_move_to_gpu(it))
        || calls.iter().filter(is_of_model).any(|it| model.may_move_to_gpu(it));
    let leaves = |call: &Call<'a>| {
        call.is_method("cpu") || (call.is_method("to") && model.source(&call.syntax.arguments).contains("cpu"))
    };
    is_moved && !calls.iter().filter(is_of_model).any(leaves) && model.work_of(calls).backwards > 0
}

/// Checks whether a value is a copy of weights, or the weights of a model that each round of the loop makes. `model-copied-in-loop` reports
/// deep copies.
fn holds_copy<'a>(model: &Model<'a>, kept: &'a Expr, region: RegionId) -> bool {
    let is_deep = |it: &'a Expr| model.source(it).contains("deepcopy");
    let made = model.origins(kept);
    if is_deep(kept) || made.iter().any(|it| is_deep(it)) {
        return false;
    }
    match model.weights(kept) {
        Some(Weights::Copied) => true,
        Some(Weights::Shared) => {
            let subject = model.call(kept).and_then(Call::method).map(|(receiver, _)| receiver);
            let around = model.loops(region).find(|it| model.is_training_loop(*it));
            subject.zip(around).is_some_and(|(subject, around)| is_made_in(model, subject, around))
        }
        None => false,
    }
}

/// Checks whether a name is bound in a loop.
fn is_made_in(model: &Model<'_>, subject: &Expr, around: LoopId) -> bool {
    let Some(name) = subject.as_name_expr() else { return false };
    let definition = &model.tree.definitions[model.definition(name).index()];
    matches!(definition.binding, Binding::Value(_)) && model.is_region_in(definition.region, around)
}

/// Checks whether a collection has no largest size, and nothing takes elements out.
fn is_growing<'a>(model: &Model<'a>, collection: &'a Expr) -> bool {
    let whole = (NodeId(0), NodeId(NodeId::next(&model.tree.nodes).0.saturating_sub(1)));
    let text = model.source(collection);
    let is_shortened = model.calls_between(whole).iter().any(|call| {
        call.method().is_some_and(|(it, method)| {
            matches!(method, "clear" | "pop" | "popleft" | "popitem") && model.source(it) == text
        })
    });
    let is_deleted = model
        .all_expressions()
        .any(|it| it.as_subscript_expr().is_some_and(|it| it.ctx.is_del() && model.source(&*it.value) == text));
    !is_shortened && !is_deleted && !model.is_bounded(collection)
}
