//! `total += loss`: a running total that keeps the graph of every step.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::Expr;

use crate::edits;
use crate::finding::MemoryEffect;
use crate::interpreter::observed;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{Binding, DefinitionId, LoopId, NodeId};
use crate::semantics::{Mode, Model, ObservationKind, StoredAs};

pub(super) const RULE: Rule = Rule {
    id: RuleId("accumulated-graph"),
    effect: MemoryEffect::Grows,
    summary: "a running total that keeps the graph of every loss added to it",
    help: "add `loss.item()` or `loss.detach()`",
    cause: Some(CauseId::RetainedGraph),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    for (id, statement) in model.statements() {
        let Some((target, added)) = model.addition(statement) else { continue };
        let has_graph = model.value(added).is_recorded() && model.mode(model.node(id).region) != Mode::Off;
        if !has_graph || model.is_wanted_with_graph(target) {
            continue;
        }
        if let Some(cost) = cost(model, id, target, added) {
            let message = format!(
                "`{}` keeps the graph of `{}` from every step; {cost}",
                model.source(target),
                model.source(added)
            );
            matches.add(statement, message).fix = edits::detach(added);
        }
    }
    for stored in model.stored_arguments(StoredAs::Added) {
        if let Some(cost) = cost_in_loop(model, stored.around, stored.argument) {
            let (object, argument) = (model.source(stored.object), model.source(stored.argument));
            let message = format!(
                "`{object}` adds `{argument}` of every step to `{}` with its graph; {cost}",
                model.source(stored.attribute)
            );
            matches.add(stored.argument, message).fix = edits::detach(stored.argument);
        }
    }
    check_observed(model, matches);
}

/// Reports what an abstract run has shown beyond the patterns above.
fn check_observed(model: &Model<'_>, matches: &mut Matches) {
    for observation in observed(model, ObservationKind::Accumulated) {
        let Some((_, statement)) = model.statement(observation.at) else { continue };
        if matches.covers(statement) {
            continue;
        }
        let cost = if observation.in_training {
            "backward frees the saved tensors, but the nodes of the graph stay in host memory, more with each step"
        } else {
            "no backward frees the graph, and the activations of all batches stay on the GPU"
        };
        let place = model.source_at(observation.at);
        let found = matches.add(statement, format!("`{place}` keeps the graph of every step; {cost}"));
        found.certainty = observation.certainty;
        let added = model.addition(statement).map(|(_, added)| added);
        found.fix = added.filter(|_| !observation.in_training).and_then(edits::detach);
    }
}

/// Returns the cost of an addition; `None` if the cost is not certain.
fn cost<'a>(model: &Model<'a>, id: NodeId, target: &'a Expr, added: &'a Expr) -> Option<&'static str> {
    let region = model.node(id).region;
    if model.loops(region).next().is_none() && model.is_training_hook(region) && is_kept_on_self(model, target) {
        return Some(
            "backward frees the saved tensors, but the nodes of the graph stay in host memory, more with \
                    each step",
        );
    }
    cost_in_loop(model, carrying_loop(model, id, target)?, added)
}

/// Returns the cost of adding a tensor to a total in each step of a loop.
fn cost_in_loop<'a>(model: &Model<'a>, around: LoopId, added: &'a Expr) -> Option<&'static str> {
    if model.work_of_loop(around).backwards > 0 {
        if model.is_spent(added) {
            return Some(
                "backward frees the saved tensors, but the nodes of the graph stay in host memory, more with each \
                step",
            );
        }
        let is_step = model.work_of_loop(around).steps > 0;
        return is_step.then_some(
            "saved tensors that no backward frees stay on the GPU and nodes of the graph in host memory, more \
            with each step",
        );
    }
    model.evaluation_loop(around).then_some(
        "no backward frees the graph, and the activations of all batches stay \
                                            on the GPU",
    )
}

/// Checks whether a target is an attribute of `self` that the method does not reset.
fn is_kept_on_self<'a>(model: &Model<'a>, target: &'a Expr) -> bool {
    let body = model.id(target).map(|id| model.body(model.function(model.node(id).region)));
    !target.is_name_expr() && Model::root_is_self(target) && body.is_some_and(|body| !model.is_emptied(target, body))
}

/// Returns the loop whose steps add to the same total.
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

/// Returns the definition of a name at its use in `value`.
fn own_use<'a>(model: &Model<'a>, value: &'a Expr, name: &str) -> Option<DefinitionId> {
    let id = model.id(value)?;
    let names = model.expressions((id, model.node(id).last)).filter_map(|(_, it)| it.as_name_expr());
    names.filter(|it| it.id.as_str() == name).map(|it| model.definition(it)).next()
}
