//! Gradient accumulation without the division.

use report::RuleId;
use ruff_python_ast::{Expr, Operator, Stmt};

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{LoopId, NodeId, RegionKind, Syntax};
use crate::semantics::{Call, Model, ObservationKind};

pub(super) const RULE: Rule = Rule {
    id: RuleId("accumulation-without-division"),
    effect: MemoryEffect::Wastes,
    summary: "gradient accumulation whose loss is not divided by the number of batches",
    help: "divide the loss by the number of batches in a step",
    cause: None,
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    for step in model.calls().iter().filter(|call| model.is_optimizer_step(call)) {
        let Some(around) = model.step_loop(step.region).filter(|&around| is_every_nth(model, step, around)) else {
            continue;
        };
        let mut backwards = model.calls_between(model.tree.loops[around.index()].body).iter();
        let is_always = |call: &&Call<'_>| !model.is_conditional(call.region, around);
        let Some(backward) = backwards.find(|call| model.backward_subject(call).is_some()).filter(is_always) else {
            continue;
        };
        if model.work_of_loop(around).backwards == 1 && !is_scaled(model, around) {
            matches.add(
                backward.syntax,
                "gradients of several batches add up to one step, but the loss is not divided by their number: \
                the step is that many times larger than the step of one large batch",
            );
        }
    }
    matches.report(
        model,
        ObservationKind::NotDivided,
        "gradients of several batches add up to one step, but the loss is not divided by their number: the step is that \
        many times larger than the step of one large batch",
    );
}

/// Checks whether the step runs for every n-th batch: under an `if` with a remainder, in the loop.
pub(super) fn is_every_nth(model: &Model<'_>, step: &Call<'_>, around: LoopId) -> bool {
    model
        .regions_within(step.region, around)
        .any(|kind| matches!(kind, RegionKind::If(it, true) if model.has_remainder(it)))
}

/// Checks for any division or multiplication in the loop, or a library that may scale; the scaled value need not be the loss.
fn is_scaled(model: &Model<'_>, around: LoopId) -> bool {
    let body = model.tree.loops[around.index()].body;
    let is_scaling = |operator: Operator| matches!(operator, Operator::Div | Operator::Mult);
    let by_expression = model.expressions(body).any(|(_, it)| it.as_bin_op_expr().is_some_and(|it| is_scaling(it.op)));
    let by_statement = (body.0.0..=body.1.0).map(NodeId).any(|id| match model.node(id).syntax {
        Syntax::Statement(Stmt::AugAssign(it)) => is_scaling(it.op),
        _ => false,
    });
    let by_library = model.calls_between(body).iter().any(|call| {
        let first = call.syntax.arguments.args.first();
        let is_engine = call.method().is_some_and(|(_, name)| name == "backward") && first.is_some();
        is_engine || model.backward_subject(call).is_some_and(|it| is_computed_elsewhere(model, it))
    });
    by_expression || by_statement || by_library || model.source_of(body).contains("reduction")
}

/// Checks whether other code may have divided the loss: a function of the file, a method.
fn is_computed_elsewhere<'a>(model: &Model<'a>, loss: &'a Expr) -> bool {
    model.origins(loss).into_iter().any(|value| match model.call(value) {
        Some(call) => model.callee(call).is_some(),
        None => !value.is_literal_expr() && !value.is_attribute_expr() && !value.is_subscript_expr(),
    })
}
