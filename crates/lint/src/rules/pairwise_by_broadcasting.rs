//! Pairwise distances or products computed from all pairs of elements.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::{Expr, Operator, Stmt};

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{Binding, FunctionId, NodeId, Syntax};
use crate::semantics::new_axis::number;
use crate::semantics::{Call, Model};

pub(super) const RULE: Rule = Rule {
    id: RuleId("pairwise-by-broadcasting"),
    effect: MemoryEffect::Wastes,
    summary: "all pairwise differences or products of two sets of vectors in one tensor",
    help: "use `torch.cdist`, or a matrix product",
    cause: Some(CauseId::OneHugeRequest),
    check,
};

/// The largest number of operations between the pairs and the sum.
const STEPS: usize = 12;

/// Words of tables of vectors, which have two axes.
const TABLES: [&str; 6] = ["codebook", "center", "centroid", "prototype", "codes", "dictionary"];

/// Words of vectors of bits.
const BITS: [&str; 5] = ["hamming", "hash", "bits", "binary", "code"];

const DIFFERENCES: &str =
    "the differences of all pairs of vectors are stored in one tensor, as wide as the vectors, before the sum";
const PRODUCTS: &str = "the products of all pairs of vectors are stored in one tensor, as wide as the vectors: a matrix \
                        product needs none";
const COMPARISONS: &str = "the vectors of all pairs are stored in one tensor before they are compared: normalize them, and \
                           use a matrix product";

fn check(model: &Model<'_>, matches: &mut Matches) {
    for (id, expression) in model.expressions(model.body(None)) {
        if let Some(message) = fault(model, id, expression)
            && !is_of_numpy(model, id, expression)
        {
            matches.add(expression, message);
        }
    }
}

fn fault<'a>(model: &Model<'a>, id: NodeId, expression: &'a Expr) -> Option<&'static str> {
    match expression {
        Expr::BinOp(it) => match it.op {
            Operator::Sub => is_difference(model, id, &it.left, &it.right).then_some(DIFFERENCES),
            Operator::Mult => is_product(model, id, &it.left, &it.right).then_some(PRODUCTS),
            Operator::BitXor => is_difference_of_bits(model, id, &it.left, &it.right).then_some(DIFFERENCES),
            _ => None,
        },
        Expr::Compare(it) => {
            let [right] = &*it.comparators else { return None };
            is_difference_of_bits(model, id, &it.left, right).then_some(DIFFERENCES)
        }
        Expr::Call(_) => fault_of_call(model, id, model.call(expression)?),
        _ => None,
    }
}

fn fault_of_call<'a>(model: &Model<'a>, id: NodeId, call: &Call<'a>) -> Option<&'static str> {
    if compares_pairs(model, call) {
        return Some(COMPARISONS);
    }
    let [left, right, ..] = &*call.syntax.arguments.args else { return None };
    match call.path.as_deref()? {
        "torch.sub" | "torch.subtract" => is_difference(model, id, left, right).then_some(DIFFERENCES),
        "torch.mul" | "torch.multiply" => is_product(model, id, left, right).then_some(PRODUCTS),
        "torch.nn.functional.mse_loss" | "torch.nn.functional.l1_loss" => {
            (is_pair(model, left, right) && is_summed(model, id, true, STEPS)).then_some(DIFFERENCES)
        }
        "torch.ne" | "torch.eq" | "torch.not_equal" | "torch.bitwise_xor" | "torch.logical_xor" => {
            is_difference_of_bits(model, id, left, right).then_some(DIFFERENCES)
        }
        _ => None,
    }
}

fn is_difference<'a>(model: &Model<'a>, id: NodeId, left: &'a Expr, right: &'a Expr) -> bool {
    is_summed(model, id, false, STEPS) && (is_pairwise(model, left, right) || is_flat_pair(model, left, right))
}

fn is_product<'a>(model: &Model<'a>, id: NodeId, left: &'a Expr, right: &'a Expr) -> bool {
    (is_pair(model, left, right) && is_summed(model, id, true, 2))
        || ((is_weighted_table(model, left, right) || is_weighted_table(model, right, left))
            && is_summed_over_rows(model, id))
}

/// `(query[:, None] != database[None]).sum(-1)` of vectors of bits: of labels, the sum is over the pairs themselves.
fn is_difference_of_bits<'a>(model: &Model<'a>, id: NodeId, left: &'a Expr, right: &'a Expr) -> bool {
    if !is_pair(model, left, right) || !is_summed(model, id, true, 4) {
        return false;
    }
    let function = model.function(model.node(id).region);
    let name = function.map_or("", |it| model.tree.functions[it.index()].syntax.name.as_str());
    let has_three_axes =
        |it: &Expr| it.as_subscript_expr().and_then(|it| it.slice.as_tuple_expr()).is_some_and(|it| it.elts.len() == 3);
    let says_bits = |text: &str| BITS.iter().any(|word| text.to_ascii_lowercase().contains(word));
    says_bits(name) || says_bits(model.source(left)) || (has_three_axes(left) && has_three_axes(right))
}

/// `weights.unsqueeze(-1) * self.values.unsqueeze(0)`: the table is a parameter of the module.
fn is_weighted_table<'a>(model: &Model<'a>, weights: &'a Expr, table: &'a Expr) -> bool {
    let (one, other) = (model.new_axes(weights, 4), model.new_axes(table, 4));
    let (Some(one), Some(other)) = (one.first(), other.first()) else { return false };
    let text = model.source(table).to_ascii_lowercase();
    let is_small =
        ["grid", "coord", "pos", "xyz", "point", "anchor", "bin", "loc", "freq"].iter().any(|it| text.contains(it));
    let is_table = text.starts_with("self.") || text.contains(".weight") || TABLES.iter().any(|it| text.contains(it));
    matches!(one.index, -1 | 2) && other.index == 0 && is_table && !is_small
}

/// Checks for a sum over the rows of a table, the second of three axes.
fn is_summed_over_rows(model: &Model<'_>, id: NodeId) -> bool {
    let call_above = |id: NodeId| {
        let parent = model.node(id).parent;
        let Syntax::Expression(expression) = model.node(parent).syntax else { return None };
        let at = if expression.is_attribute_expr() { model.node(parent).parent } else { parent };
        match model.node(at).syntax {
            Syntax::Expression(expression) => model.call(expression),
            Syntax::Statement(_) => None,
        }
    };
    let is_rows = |call: &Call<'_>, place| {
        let axis = call.argument("dim", place).or_else(|| call.keyword("axis"));
        axis.and_then(number).is_some_and(|it| matches!(it, 1 | -2))
    };
    let is_sum = |id: NodeId| {
        call_above(id).is_some_and(|call| match call.path.as_deref() {
            Some("torch.sum") => is_rows(call, 1),
            None => call.is_method("sum") && is_rows(call, 0),
            _ => false,
        })
    };
    is_sum(id) || uses(model, id).into_iter().any(is_sum)
}

/// `left.repeat_interleave(n, dim=0)` and `right.repeat(m, 1)`: all pairs one after the other.
fn is_flat_pair<'a>(model: &Model<'a>, left: &'a Expr, right: &'a Expr) -> bool {
    let (left, right) = (model.option_values(left), model.option_values(right));
    let ([left], [right]) = (left.as_slice(), right.as_slice()) else { return false };
    (repeats_rows(model, left) && repeats_whole(model, right))
        || (repeats_whole(model, left) && repeats_rows(model, right))
        || (is_of_all_pairs(model, left) && is_of_all_pairs(model, right))
}

/// `x.repeat_interleave(n, dim=0)`, `x.unsqueeze(1).repeat(1, n, 1).view(-1, d)`
fn repeats_rows<'a>(model: &Model<'a>, operand: &'a Expr) -> bool {
    let Some(call) = model.call(operand) else { return false };
    if call.is("torch.repeat_interleave") || call.is_method("repeat_interleave") {
        return call.keyword("dim").and_then(number).is_none_or(|it| it == 0);
    }
    flattened(call).is_some_and(|it| matches!(model.new_axes(it, 4).as_slice(), [axis] if axis.index == 1))
}

/// `x.repeat(n, 1)`, `x.unsqueeze(0).expand(n, -1, -1).reshape(-1, d)`
fn repeats_whole<'a>(model: &Model<'a>, operand: &'a Expr) -> bool {
    let Some(call) = model.call(operand) else { return false };
    if call.is_method("repeat") || call.is_method("tile") {
        let counts = &call.syntax.arguments.args;
        return matches!(&**counts, [first, second] if number(first).is_none() && number(second) == Some(1));
    }
    flattened(call).is_some_and(|it| matches!(model.new_axes(it, 4).as_slice(), [axis] if axis.index == 0))
}

/// Returns `x` of `x.view(-1, d)` and `x.flatten(0, 1)`.
fn flattened<'a>(call: &Call<'a>) -> Option<&'a Expr> {
    let (object, method) = call.method()?;
    let arguments = &call.syntax.arguments.args;
    let joins = match method {
        "view" | "reshape" => arguments.len() == 2,
        "flatten" => arguments.first().and_then(number) == Some(0),
        _ => false,
    };
    (joins && object.is_call_expr()).then_some(object)
}

/// `x[i]` with `i, j = torch.triu_indices(n, n, 1)`
fn is_of_all_pairs<'a>(model: &Model<'a>, operand: &'a Expr) -> bool {
    let index = operand.as_subscript_expr().and_then(|it| it.slice.as_name_expr());
    index.is_some_and(|name| match &model.tree.definitions[model.definition(name).index()].binding {
        Binding::Item(value, _) => {
            model.call(value).is_some_and(|it| it.is_any(&["torch.triu_indices", "torch.tril_indices"]))
        }
        _ => false,
    })
}

/// `F.cosine_similarity(x.unsqueeze(1), y.unsqueeze(0), dim=-1)`
fn compares_pairs<'a>(model: &Model<'a>, call: &Call<'a>) -> bool {
    let compares =
        ["torch.nn.functional.cosine_similarity", "torch.cosine_similarity", "torch.nn.functional.pairwise_distance"];
    let is_instance =
        call.path.is_none() && model.origins(&call.syntax.func).iter().any(|it| makes_comparison(model, it));
    let [left, right, ..] = &*call.syntax.arguments.args else { return false };
    (call.is_any(&compares) || is_instance) && (is_pair(model, left, right) || is_flat_pair(model, left, right))
}

/// `nn.CosineSimilarity(dim=-1)`
fn makes_comparison<'a>(model: &Model<'a>, made: &'a Expr) -> bool {
    model.call(made).is_some_and(|it| it.is_any(&["torch.nn.CosineSimilarity", "torch.nn.PairwiseDistance"]))
}

/// Checks for two operands of all pairs; the second may be a table of vectors as it is.
fn is_pairwise<'a>(model: &Model<'a>, left: &'a Expr, right: &'a Expr) -> bool {
    is_pair(model, left, right) || is_against_table(model, left, right) || is_against_table(model, right, left)
}

/// Checks for two operands, each with a new axis of its own that is not the last.
fn is_pair<'a>(model: &Model<'a>, left: &'a Expr, right: &'a Expr) -> bool {
    let (one, other) = (model.new_axes(left, 4), model.new_axes(right, 4));
    let [one] = one.as_slice() else { return false };
    let [other] = other.as_slice() else { return false };
    let is_same_side = (one.index < 0) == (other.index < 0);
    is_same_side && one.index != other.index && !one.is_last && !other.is_last && !is_chunk(left) && !is_chunk(right)
}

/// `x[:, None] - codebook.weight`
fn is_against_table<'a>(model: &Model<'a>, expanded: &'a Expr, table: &'a Expr) -> bool {
    let added = model.new_axes(expanded, 4);
    let text = model.source(table).to_ascii_lowercase();
    let is_table =
        text.ends_with(".weight") || (!table.is_call_expr() && TABLES.iter().any(|word| text.contains(word)));
    let is_plain = table.is_name_expr() || table.is_attribute_expr();
    is_plain && is_table && !is_chunk(expanded) && matches!(added.as_slice(), [axis] if axis.index == 1)
}

/// Checks for a slice between computed bounds: the pairs are computed in parts.
fn is_chunk(operand: &Expr) -> bool {
    let Expr::Subscript(it) = operand else { return false };
    let is_part = |it: &Expr| {
        it.as_slice_expr().is_some_and(|it| [&it.lower, &it.upper].into_iter().flatten().any(|it| number(it).is_none()))
    };
    match &*it.slice {
        Expr::Tuple(tuple) => tuple.elts.iter().any(is_part),
        slice => is_part(slice),
    }
}

/// Checks whether a value is reduced over its last axis, after a power or an absolute value unless `has_power`.
fn is_summed(model: &Model<'_>, id: NodeId, has_power: bool, left: usize) -> bool {
    let Some(left) = left.checked_sub(1) else { return false };
    let parent = model.node(id).parent;
    if parent == id {
        return false;
    }
    match model.node(parent).syntax {
        Syntax::Expression(Expr::BinOp(it)) => {
            let is_square = it.op == Operator::Mult && model.source(&*it.left) == model.source(&*it.right);
            let is_power = is_square || (it.op == Operator::Pow && model.id(&*it.left) == Some(id));
            is_summed(model, parent, has_power || is_power, left)
        }
        Syntax::Expression(Expr::UnaryOp(_)) => is_summed(model, parent, has_power, left),
        Syntax::Expression(Expr::Attribute(it)) => {
            is_summed_by_method(model, parent, it.attr.as_str(), has_power, left)
        }
        Syntax::Expression(Expr::Call(_)) => is_summed_by_function(model, parent, id, has_power, left),
        Syntax::Statement(Stmt::Assign(it)) if model.id(&*it.value) == Some(id) => {
            uses(model, id).into_iter().any(|it| is_summed(model, it, has_power, left))
        }
        // A helper of differences, summed where the helper is called.
        Syntax::Statement(Stmt::Return(_)) => model.function(model.node(id).region).is_some_and(|function| {
            let mut callers = model.callers(function).take(4);
            callers.any(|call| is_summed(model, call.id, has_power, left))
        }),
        _ => false,
    }
}

/// Returns the uses of the name that a value is assigned to.
fn uses(model: &Model<'_>, value: NodeId) -> Vec<NodeId> {
    let body = model.body(model.function(model.node(value).region));
    let is_use = |name: &ruff_python_ast::ExprName| {
        let binding = &model.tree.definitions[model.definition(name).index()].binding;
        name.ctx.is_load() && matches!(binding, Binding::Value(it) if model.id(*it) == Some(value))
    };
    model.expressions(body).filter(|(_, it)| it.as_name_expr().is_some_and(is_use)).map(|(id, _)| id).collect()
}

fn is_summed_by_method(model: &Model<'_>, attribute: NodeId, name: &str, has_power: bool, left: usize) -> bool {
    let id = model.node(attribute).parent;
    let Syntax::Expression(expression) = model.node(id).syntax else { return false };
    let Some(call) = model.call(expression).filter(|_| id != attribute) else { return false };
    match name {
        "sum" | "mean" | "amax" | "max" => has_power && is_last_axis(call, 0),
        "norm" => is_last_axis(call, 1),
        "pow" | "abs" | "square" | "pow_" | "abs_" | "square_" => is_summed(model, id, true, left),
        "float" | "clamp" | "to" | "exp" | "neg" | "mul" | "div" => is_summed(model, id, has_power, left),
        _ => false,
    }
}

fn is_summed_by_function(model: &Model<'_>, id: NodeId, operand: NodeId, has_power: bool, left: usize) -> bool {
    let Syntax::Expression(expression) = model.node(id).syntax else { return false };
    let Some(call) = model.call(expression) else { return false };
    let places = || call.syntax.arguments.args.iter().map(|it| model.id(it));
    if call.is("torch.einsum") {
        return places().filter(|it| *it == Some(operand)).count() > 0 && sums_squares(model, call);
    }
    if let (Some(callee), Some(place)) = (model.callee(call), places().position(|it| it == Some(operand))) {
        return uses_of_parameter(model, callee, place).into_iter().any(|it| is_summed(model, it, has_power, left));
    }
    if call.is_any(&["torch.mul", "torch.multiply"]) {
        let [one, other, ..] = &*call.syntax.arguments.args else { return false };
        let is_square = model.source(one) == model.source(other);
        return is_summed(model, id, has_power || is_square, left);
    }
    if places().next() != Some(Some(operand)) {
        return false;
    }
    match call.path.as_deref() {
        Some("torch.sum" | "torch.mean" | "torch.amax") => has_power && is_last_axis(call, 1),
        Some("torch.norm" | "torch.linalg.norm" | "torch.linalg.vector_norm") => is_last_axis(call, 2),
        Some("torch.pow" | "torch.abs" | "torch.square") => is_summed(model, id, true, left),
        Some("torch.exp" | "torch.neg" | "torch.clamp") => is_summed(model, id, has_power, left),
        _ => false,
    }
}

/// `torch.einsum("ijk,ijk->ij", gap, gap)`
fn sums_squares(model: &Model<'_>, call: &Call<'_>) -> bool {
    let [Expr::StringLiteral(pattern), one, other] = &*call.syntax.arguments.args else { return false };
    let text = pattern.value.to_str().replace(' ', "");
    let Some((inputs, output)) = text.split_once("->") else { return false };
    let Some((first, second)) = inputs.split_once(',') else { return false };
    first == second && !first.ends_with(output) && first.starts_with(output) && model.source(one) == model.source(other)
}

/// Returns the uses of a parameter by position.
fn uses_of_parameter(model: &Model<'_>, function: FunctionId, place: usize) -> Vec<NodeId> {
    let it = &model.tree.functions[function.index()];
    let place = place + usize::from(it.class.is_some());
    let is_use = |name: &ruff_python_ast::ExprName| {
        let binding = &model.tree.definitions[model.definition(name).index()].binding;
        matches!(binding, Binding::Parameter(of, index, _) if *of == function && *index == place)
    };
    model.expressions(it.body).filter(|(_, it)| it.as_name_expr().is_some_and(is_use)).map(|(id, _)| id).collect()
}

/// Checks whether a reduction is over the last axis: -1, or 2 or 3 for pairs of vectors.
fn is_last_axis(call: &Call<'_>, position: usize) -> bool {
    let axis = call.argument("dim", position).or_else(|| call.keyword("axis"));
    axis.and_then(number).is_some_and(|it| matches!(it, -1 | 2 | 3))
}

/// Checks whether an expression, or a name of its value, is an argument of a function of NumPy, or computes with arrays of NumPy.
fn is_of_numpy<'a>(model: &Model<'a>, id: NodeId, expression: &'a Expr) -> bool {
    let mut places = vec![id];
    places.extend(uses(model, id));
    if places.into_iter().any(|it| is_argument_of_numpy(model, it)) {
        return true;
    }
    if model.expressions_below(expression).any(|it| is_array(model, it)) {
        return true;
    }
    let Some(function) = model.function(model.node(id).region) else { return false };
    let text = model.source(model.tree.functions[function.index()].syntax);
    ["np.", "numpy", "jnp."].iter().any(|word| text.contains(word)) && !text.contains("torch") && !text.contains("F.")
}

fn is_argument_of_numpy(model: &Model<'_>, id: NodeId) -> bool {
    let mut at = id;
    loop {
        let node = model.node(at);
        let Syntax::Expression(expression) = node.syntax else { return false };
        let path = model.call(expression).and_then(|call| call.path.as_deref());
        if path.is_some_and(|path| path.starts_with("numpy.") || path.starts_with("jax.")) {
            return true;
        }
        if node.parent == at {
            return false;
        }
        at = node.parent;
    }
}

/// Checks for a name of an array: annotated as one, or made by NumPy.
fn is_array<'a>(model: &Model<'a>, expression: &'a Expr) -> bool {
    let Some(name) = expression.as_name_expr() else { return false };
    match &model.tree.definitions[model.definition(name).index()].binding {
        Binding::Parameter(_, _, parameter) => {
            parameter.annotation.as_deref().is_some_and(|it| model.source(it).contains("ndarray"))
        }
        Binding::Value(value) => model.call(value).is_some_and(|call| {
            let is_made = call.path.as_deref().is_some_and(|it| it.starts_with("numpy."));
            is_made || call.is_method("numpy")
        }),
        _ => false,
    }
}
