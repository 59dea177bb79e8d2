//! Pairwise distances or products computed from all pairs of elements.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::{Expr, Operator, Stmt};

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{Binding, NodeId, Syntax};
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

fn check(model: &Model<'_>, matches: &mut Matches) {
    for (id, expression) in model.expressions(model.body(None)) {
        let message = match expression {
            Expr::BinOp(it) if it.op == Operator::Sub && is_pairwise(model, &it.left, &it.right) => {
                let is_distance = is_summed(model, id, false, STEPS);
                is_distance.then_some("the differences of all pairs of vectors are stored in one tensor, as wide as the vectors, before the sum")
            }
            Expr::BinOp(it) if it.op == Operator::Mult && is_pair(model, &it.left, &it.right) => {
                let is_product = is_summed(model, id, true, 2);
                is_product.then_some("the products of all pairs of vectors are stored in one tensor, as wide as the vectors: a matrix product needs none")
            }
            Expr::Call(_) => model.call(expression).filter(|it| compares_pairs(model, it)).map(|_| {
                "the vectors of all pairs are stored in one tensor before they are compared: normalize them, and use a matrix product"
            }),
            _ => None,
        };
        if let Some(message) = message.filter(|_| !is_of_numpy(model, id)) {
            matches.add(expression, message);
        }
    }
}

/// `F.cosine_similarity(x.unsqueeze(1), y.unsqueeze(0), dim=-1)`
fn compares_pairs<'a>(model: &Model<'a>, call: &Call<'a>) -> bool {
    let compares =
        ["torch.nn.functional.cosine_similarity", "torch.cosine_similarity", "torch.nn.functional.pairwise_distance"];
    let is_instance =
        call.path.is_none() && model.origins(&call.syntax.func).iter().any(|it| makes_comparison(model, it));
    let [left, right, ..] = &*call.syntax.arguments.args else { return false };
    (call.is_any(&compares) || is_instance) && is_pair(model, left, right)
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
            let is_power = it.op == Operator::Pow && model.id(&*it.left) == Some(id);
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
        "sum" | "mean" => has_power && is_last_axis(call, 0),
        "norm" => is_last_axis(call, 1),
        "pow" | "abs" | "square" => is_summed(model, id, true, left),
        "float" | "clamp" | "to" | "exp" | "neg" | "mul" | "div" => is_summed(model, id, has_power, left),
        _ => false,
    }
}

fn is_summed_by_function(model: &Model<'_>, id: NodeId, operand: NodeId, has_power: bool, left: usize) -> bool {
    let Syntax::Expression(expression) = model.node(id).syntax else { return false };
    let Some(call) = model.call(expression) else { return false };
    if call.syntax.arguments.args.first().and_then(|it| model.id(it)) != Some(operand) {
        return false;
    }
    match call.path.as_deref() {
        Some("torch.sum" | "torch.mean") => has_power && is_last_axis(call, 1),
        Some("torch.norm" | "torch.linalg.norm" | "torch.linalg.vector_norm") => is_last_axis(call, 2),
        Some("torch.pow" | "torch.abs" | "torch.square") => is_summed(model, id, true, left),
        Some("torch.exp" | "torch.neg") => is_summed(model, id, has_power, left),
        _ => false,
    }
}

/// Checks whether a reduction is over the last axis: -1, or 2 or 3 for pairs of vectors.
fn is_last_axis(call: &Call<'_>, position: usize) -> bool {
    let axis = call.argument("dim", position).or_else(|| call.keyword("axis"));
    axis.and_then(number).is_some_and(|it| matches!(it, -1 | 2 | 3))
}

/// Checks whether an expression is an argument of a function of NumPy, or stands in a function that computes with NumPy alone.
fn is_of_numpy(model: &Model<'_>, id: NodeId) -> bool {
    let mut at = id;
    loop {
        let node = model.node(at);
        let Syntax::Expression(expression) = node.syntax else { break };
        let path = model.call(expression).and_then(|call| call.path.as_deref());
        if path.is_some_and(|path| path.starts_with("numpy.") || path.starts_with("jax.")) {
            return true;
        }
        if node.parent == at {
            break;
        }
        at = node.parent;
    }
    let Some(function) = model.function(model.node(id).region) else { return false };
    let text = model.source(model.tree.functions[function.index()].syntax);
    ["np.", "numpy", "jnp."].iter().any(|word| text.contains(word)) && !text.contains("torch") && !text.contains("F.")
}
