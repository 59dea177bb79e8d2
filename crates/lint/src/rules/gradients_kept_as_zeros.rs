//! `zero_grad(set_to_none=False)`: gradients that stay allocated.

use crate::edits;
use crate::finding::{Applicability, MemoryEffect};
use crate::rule::{Matches, Rule};
use crate::semantics::{Model, ObservationKind, is_bool};
use causes::CauseId;
use report::RuleId;
use ruff_python_ast::Expr;

pub(super) const RULE: Rule = Rule {
    id: RuleId("gradients-kept-as-zeros"),
    effect: MemoryEffect::Wastes,
    summary: "`zero_grad(set_to_none=False)`",
    help: "remove `set_to_none=False`: the default sets gradients to None",
    cause: Some(CauseId::GradientsAliveInForward),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    // A program that adds to gradients by hand needs them as tensors.
    if model.expressions(model.body(None)).any(|(_, it)| is_written_gradient(it)) {
        return;
    }
    for call in model.calls().iter().filter(|call| call.is_method("zero_grad")) {
        let Some(value) = call.argument("set_to_none", 0).filter(|value| is_bool(value, false)) else { continue };
        let message = "gradients are filled with zeros and stay allocated during the next forward, as many bytes \
                      as the parameters";
        matches.add(call.syntax, message).fix = Some(edits::replace(value, "True", Applicability::Unsafe));
    }
    matches.report(
        model,
        ObservationKind::ZerosKept,
        "gradients are filled with zeros and stay allocated during the next forward, as many bytes as the parameters",
    );
}

/// `p.grad = ...`, `p.grad += ...`
fn is_written_gradient(expression: &Expr) -> bool {
    expression.as_attribute_expr().is_some_and(|it| it.attr.as_str() == "grad" && it.ctx.is_store())
}
