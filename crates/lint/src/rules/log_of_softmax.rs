//! `torch.log(torch.softmax(x))`: two tensors of the size of the logits, saved for backward.

use report::RuleId;
use ruff_python_ast::{Expr, Operator};
use ruff_text_size::Ranged;

use crate::edits;
use crate::finding::{Applicability, Fix, MemoryEffect};
use crate::rule::{Matches, Rule};
use crate::semantics::data::Binding;
use crate::semantics::{Call, Mode, Model};

pub(super) const RULE: Rule = Rule {
    id: RuleId("log-of-softmax"),
    effect: MemoryEffect::Wastes,
    summary: "`log` of a `softmax`",
    help: "use `log_softmax`, or `cross_entropy` of the logits",
    cause: None,
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls() {
        let Some(operand) = operand(call, "torch.log", "log") else { continue };
        let Some(softmax) = softmax_of(model, call, operand) else { continue };
        if model.mode(call.region) != Mode::Off {
            matches.add(
                call.syntax,
                "`softmax` and `log` save two tensors of the size of the logits for backward, `log_softmax` saves one; the logarithm of \
                 a probability that rounds to 0 is -inf",
            )
            .fix = rewritten(model, call, operand, softmax);
        }
    }
}

/// Returns the operand of a unary function of torch, called as a function or as a method.
fn operand<'a>(call: &Call<'a>, path: &str, method: &str) -> Option<&'a Expr> {
    if call.is(path) {
        return call.argument("input", 0);
    }
    call.method().filter(|_| call.is_method(method) && call.syntax.arguments.is_empty()).map(|(receiver, _)| receiver)
}

/// Returns the softmax that an expression is: the call itself, or the value of a name without another use.
fn softmax_of<'m, 'a>(model: &'m Model<'a>, log: &Call<'a>, expression: &'a Expr) -> Option<&'m Call<'a>> {
    let value = match without_guard(expression) {
        Expr::Name(name) => {
            let definition = model.definition(name);
            let body = model.body(model.function(log.region));
            let names = model.expressions(body).filter_map(|(_, it)| it.as_name_expr());
            let uses = names.filter(|it| it.ctx.is_load() && it.id == name.id).count();
            match &model.tree.definitions[definition.index()].binding {
                Binding::Value(value) if uses == 1 => value,
                _ => return None,
            }
        }
        other => other,
    };
    model
        .call(value)
        .filter(|call| call.is_any(&["torch.softmax", "torch.nn.functional.softmax"]) || call.is_method("softmax"))
}

/// Returns `x` of `x + 1e-8` and of `x.clamp(min=1e-8)`, which guard the logarithm.
fn without_guard(expression: &Expr) -> &Expr {
    match expression {
        Expr::BinOp(it) if it.op == Operator::Add && is_small(&it.right) => &it.left,
        Expr::Call(call) => match &*call.func {
            Expr::Attribute(it) if matches!(it.attr.as_str(), "clamp" | "clamp_min" | "clip") => &it.value,
            _ => expression,
        },
        _ => expression,
    }
}

/// Checks for a small number, or a name of one.
fn is_small(expression: &Expr) -> bool {
    match expression {
        Expr::NumberLiteral(it) => it.value.as_float().is_some_and(|it| it.abs() <= 1e-3),
        Expr::Name(name) => name.id.to_ascii_lowercase().contains("eps"),
        Expr::Attribute(it) => it.attr.to_ascii_lowercase().contains("eps"),
        _ => false,
    }
}

/// Returns the fix for a softmax within the logarithm: the same call of `log_softmax`.
fn rewritten(model: &Model<'_>, log: &Call<'_>, operand: &Expr, softmax: &Call<'_>) -> Option<Fix> {
    let is_whole = operand.as_call_expr().is_some_and(|it| std::ptr::eq(it, softmax.syntax));
    let function = softmax.syntax.func.as_attribute_expr().filter(|_| is_whole)?;
    let name = function.attr.range().start() - softmax.syntax.range().start();
    let (before, after) = model.source(softmax.syntax).split_at_checked(name.to_usize())?;
    Some(edits::replace(log.syntax, format!("{before}log_{after}"), Applicability::Unsafe))
}
