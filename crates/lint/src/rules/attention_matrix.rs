//! Attention that writes its matrix down.

use report::RuleId;
use ruff_python_ast::{Expr, Operator};

use super::{Found, Rule};
use crate::finding::Effect;
use crate::semantics::data::{Binding, DefinitionId};
use crate::semantics::{Call, Model};

pub(super) const RULE: Rule = Rule {
    id: RuleId("attention-matrix"),
    effect: Effect::Wastes,
    summary: "attention by `softmax` of all scores",
    help: "use `torch.nn.functional.scaled_dot_product_attention`",
    cause: Some("one-huge-request"),
    check,
};

/// Words of files that have the kernels as well: what is written out there is what they are compared with.
const KERNELS: [&str; 4] = ["scaled_dot_product_attention", "flash", "sdpa", "ALL_ATTENTION_FUNCTIONS"];

fn check(model: &Model<'_>, found: &mut Found) {
    if KERNELS.iter().any(|word| model.text.contains(word)) {
        return;
    }
    for (_, expression) in model.expressions(model.body(None)) {
        let Some(weights) = left_of_product(model, expression) else { continue };
        let Some(softmax) = source_of(model, weights, 4).filter(|call| is_softmax(call)) else { continue };
        let is_attention = scores(softmax).is_some_and(|scores| is_product_with_transposed(model, scores, 10));
        if is_attention && !is_asked_for(model, softmax, weights) {
            found.at(
                softmax.syntax,
                "the scores of every token with every token are a tensor, and saved for backward twice or more: quadratic in the \
                 length of the sequence",
            );
        }
    }
}

/// Whether the weights are given to somebody else: `return out, weights`. A kernel would not have them.
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

/// `a` of `a @ b` and of `torch.matmul(a, b)`.
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

/// What softmax is taken of.
fn scores<'a>(softmax: &Call<'a>) -> Option<&'a Expr> {
    if softmax.path.is_some() { softmax.argument("input", 0) } else { softmax.method().map(|(receiver, _)| receiver) }
}

/// The softmax that a value is, with dropout and casts left out.
fn source_of<'m, 'a>(model: &'m Model<'a>, expression: &'a Expr, left: usize) -> Option<&'m Call<'a>> {
    let left = left.checked_sub(1)?;
    match expression {
        Expr::Name(name) => source_of(model, assigned(model, model.definition(name))?, left),
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

fn assigned<'a>(model: &Model<'a>, definition: DefinitionId) -> Option<&'a Expr> {
    match &model.tree.definitions[definition.index()].binding {
        Binding::Value(value) => Some(value),
        _ => None,
    }
}

/// `q @ k.transpose(-2, -1)`, scaled and masked or not.
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

/// The same of a name; of several ways that it may have been given a value, each.
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

/// Whether two sides are queries and transposed keys. An attribute of `self` is a parameter: a few learned queries.
fn is_product(queries: &Expr, keys: &Expr) -> bool {
    let is_learned = queries
        .as_attribute_expr()
        .is_some_and(|it| it.value.as_name_expr().is_some_and(|it| it.id.as_str() == "self"));
    is_transposed(keys) && !is_learned
}

/// Whether scores stay what a kernel computes: scaled, or with a mask added. A learned bias is a matrix of its own, which a kernel would need
/// as well.
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
