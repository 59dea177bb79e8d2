//! `losses.append(loss)`: a list that keeps the graph of every step.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::{Expr, Operator, Stmt};

use crate::edits;
use crate::finding::MemoryEffect;
use crate::interpreter::observed;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{LoopId, NodeId, RegionId, Syntax};
use crate::semantics::{Model, ObservationKind, StoredAs, ValueKind};

pub(super) const RULE: Rule = Rule {
    id: RuleId("graph-in-collection"),
    effect: MemoryEffect::Grows,
    summary: "a list or dict that keeps the losses or outputs of all steps with their graphs",
    help: "store `.item()` of a number, `.detach().cpu()` of a tensor",
    cause: Some(CauseId::GrowingCollection),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    check_methods(model, matches);
    for call in model.calls() {
        let Some((collection, method)) = call.method().filter(|_| call.path.is_none()) else { continue };
        let is_kept = match method {
            "append" | "appendleft" => model.class_of_object(collection).is_none(),
            "add" => model.value(collection) == ValueKind::Collection,
            _ => false,
        };
        if let (true, [kept]) = (is_kept, &*call.syntax.arguments.args) {
            report_stored(model, matches, call.id, collection, kept);
        }
    }
    for (id, statement) in model.statements() {
        match statement {
            Stmt::AugAssign(it) if it.op == Operator::Add => {
                if let Expr::List(list) = &*it.value {
                    list.elts.iter().for_each(|kept| report_stored(model, matches, id, &it.target, kept));
                }
            }
            Stmt::Assign(it) => {
                if let [Expr::Subscript(target)] = it.targets.as_slice()
                    && is_new_key(&target.slice)
                    && !matches!(model.value(&target.value), ValueKind::Tensor(..))
                {
                    report_stored(model, matches, id, &target.value, &it.value);
                }
            }
            _ => {}
        }
    }
    check_observed(model, matches);
}

/// Reports what an abstract run has shown beyond the patterns above.
fn check_observed(model: &Model<'_>, matches: &mut Matches) {
    for observation in observed(model, ObservationKind::Collected) {
        let Some((_, statement)) = model.statement(observation.at) else { continue };
        if matches.covers(statement) {
            continue;
        }
        let cost = if observation.in_training {
            "each step adds the tensor, and the tensors saved by its graph until a backward frees them, to GPU memory"
        } else {
            "no backward frees the graph, and the activations of all batches stay on the GPU"
        };
        let kept = Some(observation.at).filter(|_| observation.is_tensor).and_then(|at| stored(model, at));
        let text = kept.map_or_else(|| model.source(statement), |it| model.source(it));
        let text = text.lines().next().unwrap_or_default();
        let verb = if kept.is_some() { "is kept from" } else { "keeps a tensor of" };
        let found = matches.add(statement, format!("`{text}` {verb} every step with its graph: {cost}"));
        found.certainty = observation.certainty;
        // Where a backward runs, it frees the saved tensors, and a detach frees no GPU memory.
        found.fix = kept.filter(|_| !observation.in_training).and_then(edits::detach);
    }
}

/// Returns the argument that a call puts into a collection: the last one.
fn stored<'a>(model: &Model<'a>, at: NodeId) -> Option<&'a Expr> {
    let Syntax::Expression(Expr::Call(call)) = model.node(at).syntax else { return None };
    call.arguments.args.last()
}

/// Reports `history.add(loss)`, where the method has `self.losses.append(loss)`.
fn check_methods(model: &Model<'_>, matches: &mut Matches) {
    for stored in model.stored_arguments(StoredAs::Collected) {
        let region = model.node(stored.call).region;
        if let Some(cost) = cost(model, region, stored.object, stored.argument) {
            let (object, argument) = (model.source(stored.object), model.source(stored.argument));
            let message = format!(
                "`{object}` stores `{argument}` of every step in `{}` with its graph: {cost}",
                model.source(stored.attribute)
            );
            matches.add(stored.argument, message).fix = edits::detach(stored.argument);
        }
    }
}

/// Checks whether a subscript may differ between steps: not a constant.
fn is_new_key(index: &Expr) -> bool {
    !index.is_literal_expr() && !index.is_slice_expr() && !index.is_unary_op_expr() && !index.is_tuple_expr()
}

fn report_stored<'a>(model: &Model<'a>, matches: &mut Matches, id: NodeId, collection: &'a Expr, kept: &'a Expr) {
    let parts: &[Expr] = match kept {
        Expr::Tuple(it) => &it.elts,
        _ => std::slice::from_ref(kept),
    };
    let Some(tensor) = parts.iter().find(|part| model.value(part).is_recorded()) else { return };
    if model.is_bounded(collection) {
        return;
    }
    if let Some(cost) = cost(model, model.node(id).region, collection, tensor) {
        let message = format!(
            "`{}` stores `{}` of every step with its graph: {cost}",
            model.source(collection),
            model.source(tensor)
        );
        matches.add(tensor, message).fix = edits::detach(tensor);
    }
}

fn cost<'a>(model: &Model<'a>, region: RegionId, collection: &'a Expr, kept: &'a Expr) -> Option<&'static str> {
    let spent = if model.is_spent(kept) {
        "each step adds 512 bytes of GPU memory (for `mse_loss` the bytes of its input) and the nodes of a graph \
        in host memory"
    } else {
        "each step adds the tensor, and the tensors saved by its graph until a backward frees them, to GPU memory"
    };
    match model.loops(region).next() {
        Some(around) if !model.outlives_step(collection, around) => None,
        Some(around) if is_step(model, around) => Some(spent),
        Some(around) => model
            .evaluation_loop(around)
            .then_some("no backward frees the graph, and the activations of all batches stay on the GPU"),
        None => model.is_training_hook(region).then_some(spent).filter(|_| Model::root_is_self(collection)),
    }
}

/// Checks whether every iteration ends with changed parameters, which makes older graphs useless.
fn is_step(model: &Model<'_>, around: LoopId) -> bool {
    // A loop over a literal list of models is no loop over steps.
    let iterated = model.tree.loops[around.index()].iterated;
    model.is_training_loop(around) && !iterated.is_some_and(|it| it.is_tuple_expr() || it.is_list_expr())
}
