//! Attention that stores the matrix of scores.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::{Expr, Operator};

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{Binding, DefinitionId};
use crate::semantics::{Call, Model};

pub(super) const RULE: Rule = Rule {
    id: RuleId("attention-matrix"),
    effect: MemoryEffect::Wastes,
    summary: "attention that stores the softmax of all scores",
    help: "use `torch.nn.functional.scaled_dot_product_attention`",
    cause: Some(CauseId::OneHugeRequest),
    check,
};

/// Words of files that use kernels as well: explicit attention there is a reference or a fallback.
const KERNELS: [&str; 4] = ["scaled_dot_product_attention", "flash", "sdpa", "ALL_ATTENTION_FUNCTIONS"];

fn check(model: &Model<'_>, matches: &mut Matches) {
    if KERNELS.iter().any(|word| model.text.contains(word)) {
        return;
    }
    for (_, expression) in model.expressions(model.body(None)) {
        let Some(weights) = left_of_product(model, expression) else { continue };
        let Some(softmax) = source_of(model, weights, 4).filter(|call| is_softmax(call)) else { continue };
        let is_attention = scores(softmax).is_some_and(|scores| is_product_with_transposed(model, scores, 10));
        if is_attention && !is_asked_for(model, softmax, weights) {
            matches.add(
                softmax.syntax,
                "the scores of all pairs of tokens are stored, and saved for backward at least twice: memory \
                grows with the square of the sequence length",
            );
        }
    }
}

/// Checks whether the function returns the weights (`return out, weights`), which a kernel does not compute.
fn is_asked_for<'a>(model: &Model<'a>, softmax: &Call<'a>, weights: &'a Expr) -> bool {
    let Some(function) = model.function(softmax.region) else { return false };
    let softened = model.statement(softmax.id).and_then(|(_, statement)| statement.as_assign_stmt());
    let names = softened.into_iter().flat_map(|it| &it.targets).chain([weights]);
    let names: Vec<&str> = names.filter_map(|it| it.as_name_expr()).map(|name| name.id.as_str()).collect();
    let is_weights = |it: &Expr| it.as_name_expr().is_some_and(|name| names.contains(&name.id.as_str()));
    model.tree.functions[function.index()].returned.iter().any(|value| match value {
        Expr::Tuple(tuple) => tuple.elts.iter().any(is_weights),
        value => is_weights(value),
    })
}

/// Returns `a` of `a @ b` and of `torch.matmul(a, b)`.
fn left_of_product<'a>(model: &Model<'a>, expression: &'a Expr) -> Option<&'a Expr> {
    match expression {
        Expr::BinOp(it) if it.op == Operator::MatMult => Some(&it.left),
        Expr::Call(_) => {
            let call = model.call(expression)?;
            if call.is_any(&["torch.matmul", "torch.bmm"]) {
                return call.argument("input", 0);
            }
            call.method()
                .filter(|(_, name)| call.path.is_none() && matches!(*name, "matmul" | "bmm"))
                .map(|(receiver, _)| receiver)
        }
        _ => None,
    }
}

fn is_softmax(call: &Call<'_>) -> bool {
    call.is_any(&["torch.softmax", "torch.nn.functional.softmax"]) || call.is_method("softmax")
}

/// Returns the argument of softmax.
fn scores<'a>(softmax: &Call<'a>) -> Option<&'a Expr> {
    if softmax.path.is_some() { softmax.argument("input", 0) } else { softmax.method().map(|(receiver, _)| receiver) }
}

/// Returns the softmax behind a value, through dropout and casts.
fn source_of<'m, 'a>(model: &'m Model<'a>, expression: &'a Expr, left: usize) -> Option<&'m Call<'a>> {
    let left = left.checked_sub(1)?;
    match expression {
        Expr::Name(name) => source_of(model, assigned_value(model, model.definition(name))?, left),
        Expr::Call(_) => {
            let call = model.call(expression)?;
            if is_softmax(call) {
                return Some(call);
            }
            if call.is_method("to") || call.is_method("type_as") {
                return source_of(model, call.method()?.0, left);
            }
            let is_dropout =
                call.is("torch.nn.functional.dropout") || model.source(&*call.syntax.func).ends_with("dropout");
            source_of(model, call.syntax.arguments.args.first().filter(|_| is_dropout)?, left)
        }
        _ => None,
    }
}

fn assigned_value<'a>(model: &Model<'a>, definition: DefinitionId) -> Option<&'a Expr> {
    match &model.tree.definitions[definition.index()].binding {
        Binding::Value(value) => Some(value),
        _ => None,
    }
}

/// Checks for `q @ k.transpose(-2, -1)`, scaled and masked or not.
fn is_product_with_transposed<'a>(model: &Model<'a>, expression: &'a Expr, left: usize) -> bool {
    let Some(left) = left.checked_sub(1) else { return false };
    match expression {
        Expr::BinOp(it) if it.op == Operator::MatMult => is_product(&it.left, &it.right),
        Expr::BinOp(it) => is_scaling(model, it.op, &it.right) && is_product_with_transposed(model, &it.left, left),
        Expr::Name(name) => is_product_by_name(model, model.definition(name), left),
        Expr::Call(_) => {
            let Some(call) = model.call(expression) else { return false };
            if call.is_any(&["torch.matmul", "torch.bmm"]) {
                let sides = call.argument("input", 0).zip(call.argument("other", 1).or(call.argument("mat2", 1)));
                return sides.is_some_and(|(left, right)| is_product(left, right));
            }
            let masks = ["masked_fill", "masked_fill_", "float", "to"];
            call.method().is_some_and(|(receiver, name)| {
                call.path.is_none() && masks.contains(&name) && is_product_with_transposed(model, receiver, left)
            })
        }
        _ => false,
    }
}

/// Checks all definitions of a name for the product.
fn is_product_by_name(model: &Model<'_>, definition: DefinitionId, left: usize) -> bool {
    let Some(left) = left.checked_sub(1) else { return false };
    match &model.tree.definitions[definition.index()].binding {
        Binding::Value(value) => is_product_with_transposed(model, value, left),
        Binding::Augmented(before, it) => {
            is_scaling(model, it.op, &it.value) && is_product_by_name(model, *before, left)
        }
        Binding::Join(inputs, None) => inputs.iter().all(|&it| is_product_by_name(model, it, left)),
        _ => false,
    }
}

/// Checks whether two operands are queries and transposed keys. An attribute of `self` is a parameter: a few learned queries.
fn is_product(queries: &Expr, keys: &Expr) -> bool {
    let is_learned = queries
        .as_attribute_expr()
        .is_some_and(|it| it.value.as_name_expr().is_some_and(|it| it.id.as_str() == "self"));
    is_transposed(keys) && !is_learned
}

/// Checks whether a kernel supports the operation on the scores: a scale or an added mask. A learned bias is a matrix by itself, which a
/// kernel would need as well.
fn is_scaling(model: &Model<'_>, operator: Operator, other: &Expr) -> bool {
    operator != Operator::Add || model.source(other).to_ascii_lowercase().contains("mask")
}

/// `k.transpose(-2, -1)`, `k.mT`
fn is_transposed(expression: &Expr) -> bool {
    match expression {
        Expr::Call(it) => {
            it.func.as_attribute_expr().is_some_and(|it| matches!(it.attr.as_str(), "transpose" | "permute" | "t"))
        }
        Expr::Attribute(it) => matches!(it.attr.as_str(), "mT" | "T"),
        _ => false,
    }
}
