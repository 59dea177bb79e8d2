//! `total += loss`: a running total that holds the graph of every step.

use report::RuleId;
use ruff_python_ast::Expr;

use super::{Found, Rule, fix};
use crate::finding::Effect;
use crate::semantics::data::{Binding, DefinitionId, LoopId, NodeId};
use crate::semantics::{Kept, Mode, Model};

pub(super) const RULE: Rule = Rule {
    id: RuleId("accumulated-graph"),
    effect: Effect::Grows,
    summary: "a total over steps to which a loss is added with its graph",
    help: "add `.item()` or `.detach()` of it",
    cause: Some("retained-graph"),
    check,
};

fn check(model: &Model<'_>, found: &mut Found) {
    for (id, statement) in model.statements() {
        let Some((target, added)) = model.addition(statement) else { continue };
        let has_graph = model.value(added).is_recorded() && model.mode(model.node(id).region) != Mode::Off;
        if !has_graph || model.is_wanted_with_graph(target) {
            continue;
        }
        if let Some(cost) = cost(model, id, target, added) {
            let message =
                format!("`{}` holds the graph of every step's `{}`; {cost}", model.source(target), model.source(added));
            found.at(statement, message).fix = fix::detach(added);
        }
    }
    for keeping in model.keepings(Kept::Added) {
        if let Some(cost) = cost_in_loop(model, keeping.around, keeping.argument) {
            let (object, argument) = (model.source(keeping.object), model.source(keeping.argument));
            let message = format!(
                "`{object}` adds up every step's `{argument}` with its graph, in its `{}`; {cost}",
                model.source(keeping.place)
            );
            found.at(keeping.argument, message).fix = fix::detach(keeping.argument);
        }
    }
}

/// What it costs; `None` if it cannot be told that it does.
fn cost<'a>(model: &Model<'a>, id: NodeId, target: &'a Expr, added: &'a Expr) -> Option<&'static str> {
    let region = model.node(id).region;
    if model.loops(region).next().is_none() && model.is_training_hook(region) && is_kept_on_self(model, target) {
        return Some("backward frees what it saved, the nodes stay in host memory, more with each step");
    }
    cost_in_loop(model, carrying_loop(model, id, target)?, added)
}

/// What it costs to add something to a total with each step of a loop.
fn cost_in_loop<'a>(model: &Model<'a>, around: LoopId, added: &'a Expr) -> Option<&'static str> {
    if model.work_of_loop(around).backwards > 0 {
        if model.is_spent(added) {
            return Some(
                "its backward frees the tensors that it saved; its nodes stay in host memory, more with each step",
            );
        }
        let is_step = model.work_of_loop(around).steps > 0;
        return is_step.then_some(
            "what no backward has freed of it stays on the GPU, its nodes in host memory, more with each step",
        );
    }
    model.evaluation_loop(around).then_some("no backward frees it, so the activations of all batches stay on the GPU")
}

/// Whether a target is an attribute of `self` that the method does not set anew.
fn is_kept_on_self<'a>(model: &Model<'a>, target: &'a Expr) -> bool {
    let body = model.id(target).map(|id| model.body(model.function(model.node(id).region)));
    !target.is_name_expr() && Model::root_is_self(target) && body.is_some_and(|body| !model.is_emptied(target, body))
}

/// The loop whose steps add to the same total.
fn carrying_loop<'a>(model: &Model<'a>, id: NodeId, target: &'a Expr) -> Option<LoopId> {
    match target {
        Expr::Name(name) => {
            let definition = model.definition(name);
            let before = match &model.tree.definitions[definition.index()].binding {
                Binding::Augmented(before, _) => *before,
                Binding::Value(value) => own_use(model, value, name.id.as_str())?,
                _ => return None,
            };
            model.carrying_loop(id, before).filter(|&around| !model.is_reset_in(definition, around))
        }
        _ => model.loops(model.node(id).region).next().filter(|&around| model.outlives_step(target, around)),
    }
}

/// The definition that a name has where a value uses it.
fn own_use<'a>(model: &Model<'a>, value: &'a Expr, name: &str) -> Option<DefinitionId> {
    let id = model.id(value)?;
    let names = model.expressions((id, model.node(id).last)).filter_map(|(_, it)| it.as_name_expr());
    names.filter(|it| it.id.as_str() == name).map(|it| model.definition(it)).next()
}
