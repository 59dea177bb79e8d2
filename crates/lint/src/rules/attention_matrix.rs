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
        let found = factors(model, expression).into_iter().find_map(|(weights, is_right)| {
            let softmax = source_of(model, weights, 4).filter(|call| is_softmax(call))?;
            let is_attention = scores(softmax).is_some_and(|scores| is_score(model, scores, is_right));
            is_attention.then_some((softmax, weights))
        });
        let Some((softmax, weights)) = found else { continue };
        if !is_asked_for(model, softmax, weights) && !is_of_channels(model, softmax) {
            matches.add(
                softmax.syntax,
                "the scores of all pairs of tokens are stored, and saved for backward at least twice: memory \
                grows with the square of the sequence length",
            );
        }
    }
}

/// Checks for attention between channels, whose matrix is small: `rearrange(q, "b (head c) h w -> b head c (h w)")`.
fn is_of_channels(model: &Model<'_>, softmax: &Call<'_>) -> bool {
    let Some(function) = model.function(softmax.region) else { return false };
    let text = model.source(model.tree.functions[function.index()].syntax);
    let is_product = !text.contains("einsum");
    is_product && ["c (h w)", "d (h w)", "c (x y)"].iter().any(|it| text.contains(it))
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

/// Returns the factors of a product that may be the weights: `a` of `a @ b`, `b` of `a @ b.transpose(1, 2)` (true), and both of an einsum.
fn factors<'a>(model: &Model<'a>, expression: &'a Expr) -> Vec<(&'a Expr, bool)> {
    if let Some((equation, one, other)) = einsum(model, expression) {
        return if is_weighted_sum(equation) { vec![(one, false), (other, false)] } else { Vec::new() };
    }
    let Some((left, right)) = product(model, expression) else { return Vec::new() };
    let transposed = right.as_call_expr().filter(|_| is_transposed(right)).and_then(|it| it.func.as_attribute_expr());
    let right = transposed
        .map(|it| (&*it.value, true))
        .or_else(|| right.as_attribute_expr().filter(|_| is_transposed(right)).map(|it| (&*it.value, true)));
    [Some((left, false)), right].into_iter().flatten().collect()
}

/// Returns the operands of `a @ b`, `torch.matmul(a, b)`, `a.bmm(b)`, and of `torch.baddbmm(bias, a, b)`.
fn product<'a>(model: &Model<'a>, expression: &'a Expr) -> Option<(&'a Expr, &'a Expr)> {
    match expression {
        Expr::BinOp(it) if it.op == Operator::MatMult => Some((&it.left, &it.right)),
        Expr::Call(_) => {
            let call = model.call(expression)?;
            if call.is_any(&["torch.matmul", "torch.bmm"]) {
                return call.argument("input", 0).zip(call.argument("other", 1).or(call.argument("mat2", 1)));
            }
            if call.is("torch.baddbmm") {
                return call.argument("batch1", 1).zip(call.argument("batch2", 2));
            }
            let (receiver, _) =
                call.method().filter(|(_, name)| call.path.is_none() && matches!(*name, "matmul" | "bmm"))?;
            Some((receiver, call.syntax.arguments.args.first()?))
        }
        _ => None,
    }
}

/// Returns the equation and the operands of an einsum of two tensors.
fn einsum<'a>(model: &Model<'a>, expression: &'a Expr) -> Option<(&'a str, &'a Expr, &'a Expr)> {
    let call = model.call(expression).filter(|call| call.is_any(&["torch.einsum", "einops.einsum"]))?;
    let mut operands = call.syntax.arguments.args.iter();
    let equations = call.syntax.arguments.args.iter().find_map(Expr::as_string_literal_expr)?;
    let mut tensors = operands.by_ref().filter(|it| !it.is_string_literal_expr());
    let pair = (tensors.next()?, tensors.next()?);
    tensors.next().is_none().then_some((equations.value.to_str(), pair.0, pair.1))
}

/// The letters of the two operands and of the result.
fn letters(equation: &str) -> Option<(Vec<char>, Vec<char>, Vec<char>)> {
    let (operands, result) = equation.split_once("->")?;
    let (one, other) = operands.split_once(',')?;
    let letters = |text: &str| text.chars().filter(char::is_ascii_alphabetic).collect::<Vec<_>>();
    Some((letters(one), letters(other), letters(result)))
}

/// Checks for the scores of all pairs: `bhqd,bhkd->bhqk` sums over one letter, and each operand keeps one of its own.
fn is_all_pairs(equation: &str) -> bool {
    let Some((one, other, result)) = letters(equation) else { return false };
    let kept =
        |mine: &[char], theirs: &[char]| mine.iter().filter(|it| result.contains(it) && !theirs.contains(it)).count();
    let batches = one.iter().filter(|it| other.contains(it) && result.contains(it)).count();
    let summed = one.iter().filter(|it| other.contains(it) && !result.contains(it)).count();
    (batches > 0 || equation.contains("...")) && summed == 1 && kept(&one, &other) == 1 && kept(&other, &one) == 1
}

/// Checks for a sum over one letter that both operands have.
fn is_weighted_sum(equation: &str) -> bool {
    letters(equation)
        .is_some_and(|(one, other, result)| one.iter().any(|it| other.contains(it) && !result.contains(it)))
}

/// Checks for scores: a product with transposed keys; any product if the weights are transposed for the second product.
fn is_score<'a>(model: &Model<'a>, scores: &'a Expr, is_right: bool) -> bool {
    let made = if is_right { model.assigned_expressions(scores, 4) } else { Vec::new() };
    is_product_with_transposed(model, scores, 10)
        || (is_right && made.into_iter().chain([scores]).any(|it| product(model, it).is_some()))
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
    if let Some((queries, keys)) = product(model, expression) {
        return is_product(model, queries, keys);
    }
    if let Some((equation, ..)) = einsum(model, expression) {
        return is_all_pairs(equation);
    }
    match expression {
        Expr::BinOp(it) => {
            let is_left = is_scaling(model, it.op, &it.right) && is_product_with_transposed(model, &it.left, left);
            is_left || (it.op == Operator::Mult && is_product_with_transposed(model, &it.right, left))
        }
        Expr::Name(name) => is_product_by_name(model, model.definition(name), left),
        Expr::Call(_) => {
            let Some(call) = model.call(expression) else { return false };
            let masks = ["masked_fill", "masked_fill_", "float", "to", "mul", "div"];
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
fn is_product<'a>(model: &Model<'a>, queries: &'a Expr, keys: &'a Expr) -> bool {
    let is_learned = queries
        .as_attribute_expr()
        .is_some_and(|it| it.value.as_name_expr().is_some_and(|it| it.id.as_str() == "self"));
    (is_transposed(keys) || is_named_transposed(model, keys)) && !is_learned
}

/// `keys = k.transpose(-2, -1)`; `transpose(1, 2)` may as well split heads.
fn is_named_transposed<'a>(model: &Model<'a>, keys: &'a Expr) -> bool {
    let Some(value) = keys.as_name_expr().and_then(|it| assigned_value(model, model.definition(it))) else {
        return false;
    };
    let axes = ["transpose(-2, -1)", "transpose(-1, -2)", "transpose(2, 3)", "transpose(3, 2)", ".mT"];
    axes.iter().any(|it| model.source(value).ends_with(it))
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
