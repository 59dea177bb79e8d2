//! `losses.append(loss)`: a list that keeps the graph of every step.

use report::RuleId;
use ruff_python_ast::{Expr, Operator, Stmt};

use super::{Found, Rule, fix};
use crate::finding::Effect;
use crate::semantics::data::{LoopId, NodeId, RegionId};
use crate::semantics::{Kept, Model, Value};

pub(super) const RULE: Rule = Rule {
    id: RuleId("graph-in-collection"),
    effect: Effect::Grows,
    summary: "a list or dict that outlives the step gets a loss or an output with its graph",
    help: "keep `.item()` of a number, `.detach().cpu()` of a tensor",
    cause: Some("growing-collection"),
    check,
};

fn check(model: &Model<'_>, found: &mut Found) {
    check_methods(model, found);
    for call in model.calls() {
        let Some((collection, method)) = call.method().filter(|_| call.path.is_none()) else { continue };
        let is_kept = match method {
            "append" | "appendleft" => model.class_of_object(collection).is_none(),
            "add" => model.value(collection) == Value::Collection,
            _ => false,
        };
        if let (true, [kept]) = (is_kept, &*call.syntax.arguments.args) {
            keep(model, found, call.id, collection, kept);
        }
    }
    for (id, statement) in model.statements() {
        match statement {
            Stmt::AugAssign(it) if it.op == Operator::Add => {
                if let Expr::List(list) = &*it.value {
                    list.elts.iter().for_each(|kept| keep(model, found, id, &it.target, kept));
                }
            }
            Stmt::Assign(it) => {
                if let [Expr::Subscript(target)] = it.targets.as_slice()
                    && is_new_key(&target.slice)
                    && !matches!(model.value(&target.value), Value::Tensor(..))
                {
                    keep(model, found, id, &target.value, &it.value);
                }
            }
            _ => {}
        }
    }
}

/// `history.add(loss)`, where the method has `self.losses.append(loss)`.
fn check_methods(model: &Model<'_>, found: &mut Found) {
    for keeping in model.keepings(Kept::Collected) {
        let region = model.node(keeping.call).region;
        if let Some(cost) = cost(model, region, keeping.object, keeping.argument) {
            let (object, argument) = (model.source(keeping.object), model.source(keeping.argument));
            let message = format!(
                "`{object}` keeps every step's `{argument}` with its graph, in its `{}`: {cost}",
                model.source(keeping.place)
            );
            found.at(keeping.argument, message).fix = fix::detach(keeping.argument);
        }
    }
}

/// Whether a subscript names another place with each step: not a constant.
fn is_new_key(index: &Expr) -> bool {
    !index.is_literal_expr() && !index.is_slice_expr() && !index.is_unary_op_expr() && !index.is_tuple_expr()
}

fn keep<'a>(model: &Model<'a>, found: &mut Found, id: NodeId, collection: &'a Expr, kept: &'a Expr) {
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
            "`{}` keeps every step's `{}` with its graph: {cost}",
            model.source(collection),
            model.source(tensor)
        );
        found.at(tensor, message).fix = fix::detach(tensor);
    }
}

fn cost<'a>(model: &Model<'a>, region: RegionId, collection: &'a Expr, kept: &'a Expr) -> Option<&'static str> {
    let spent = if model.is_spent(kept) {
        "512 bytes of the GPU's memory with each step (of `mse_loss` as many as its input has) and the graph's nodes on the host"
    } else {
        "the tensor stays on the GPU, more with each step, and what its graph saved as long as no backward has run through it"
    };
    match model.loops(region).next() {
        Some(around) if !model.outlives_step(collection, around) => None,
        Some(around) if is_step(model, around) => Some(spent),
        Some(around) => model
            .evaluation_loop(around)
            .then_some("no backward frees it, so the activations of all batches stay on the GPU"),
        None => model.is_training_hook(region).then_some(spent).filter(|_| Model::root_is_self(collection)),
    }
}

/// Whether each run of a loop's body ends with parameters changed: older graphs can be of no use.
fn is_step(model: &Model<'_>, around: LoopId) -> bool {
    // A loop over two models that are compared is not one over steps.
    let iterated = model.tree.loops[around.index()].iterated;
    model.is_training_loop(around) && !iterated.is_some_and(|it| it.is_tuple_expr() || it.is_list_expr())
}
