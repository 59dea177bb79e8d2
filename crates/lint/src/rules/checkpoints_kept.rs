//! Copies of the weights collected while training.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::{Expr, Stmt};

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{Binding, LoopId, NodeId, RegionId};
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
        if holds_copy(model, kept, call.region) && is_growing(model, list) && model.runs_in_training(call.region) {
            matches.add(kept, message);
        }
    }
    for (id, statement) in model.statements() {
        let Stmt::Assign(it) = statement else { continue };
        let [Expr::Subscript(target)] = it.targets.as_slice() else { continue };
        let region = model.node(id).region;
        let is_named = target.slice.is_string_literal_expr() || target.slice.is_slice_expr();
        if !is_named
            && holds_copy(model, &it.value, region)
            && is_growing(model, &target.value)
            && model.runs_in_training(region)
        {
            matches.add(&*it.value, message);
        }
    }
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
