//! `x[None].repeat(n, 1, 1)`: copies along an axis that `expand` would add without memory.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::{Expr, Stmt};

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{NodeId, Syntax};
use crate::semantics::new_axis::number;
use crate::semantics::{Call, Model};

pub(super) const RULE: Rule = Rule {
    id: RuleId("repeat-of-tensor"),
    effect: MemoryEffect::Style,
    summary: "`repeat` along a new axis, where `expand` needs no memory",
    help: "use `expand`, which repeats without copies",
    cause: Some(CauseId::OneHugeRequest),
    check,
};

/// The smallest number of axes that is reported: index vectors are small.
const AXES: usize = 3;

/// Words of tensors that are small: weights of a fixed filter.
const SMALL: [&str; 6] = ["kernel", "filter", "window", "wavelet", "weight", "scal"];

/// Methods that join the repeated axis with another, or write to the result: they need the copy.
const NEEDING: [&str; 8] = ["view", "reshape", "flatten", "contiguous", "unflatten", "copy_", "numpy", "clone"];

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in
        model.calls().iter().filter(|call| call.is_method("repeat") && call.syntax.arguments.keywords.is_empty())
    {
        let counts = &*call.syntax.arguments.args;
        if counts.len() < AXES || is_in_constructor(model, call) || is_copy_needed(model, call.id) {
            continue;
        }
        let Some((tensor, _)) = call.method() else { continue };
        let statement = model.statement(call.id).map_or("", |(_, it)| model.source(it)).to_ascii_lowercase();
        if SMALL.iter().any(|word| statement.contains(word)) || is_vector(model, tensor) || is_joined(model, call.id) {
            continue;
        }
        if repeats_new_axes_alone(model, tensor, counts) {
            let message = format!(
                "`repeat` copies `{}` along an axis of size 1: `expand` gives the same values without memory",
                model.source(tensor)
            );
            matches.add(call.syntax, message);
        }
    }
}

/// Checks whether all repeated axes are new ones, of size 1.
fn repeats_new_axes_alone<'a>(model: &Model<'a>, tensor: &'a Expr, counts: &'a [Expr]) -> bool {
    let axes = model.new_axes(tensor, 3);
    let length = i64::try_from(counts.len()).unwrap_or(i64::MAX);
    let positions: Vec<i64> = axes.iter().map(|it| if it.index < 0 { it.index + length } else { it.index }).collect();
    let repeated = (0_i64..).zip(counts).filter(|(_, count)| number(count) != Some(1));
    let mut repeated =
        repeated.map(|(position, count)| positions.contains(&position) && !count.is_starred_expr()).peekable();
    repeated.peek().is_some() && repeated.all(|is_new| is_new)
}

/// `x.view(1, 1, -1)`: a vector.
fn is_vector<'a>(model: &Model<'a>, tensor: &'a Expr) -> bool {
    let Some(call) = model.call(tensor).filter(|it| it.is_method("view") || it.is_method("reshape")) else {
        return false;
    };
    call.syntax.arguments.args.iter().filter(|it| number(it) != Some(1)).count() < 2
}

/// Checks for an element of a list that `torch.cat` copies anyway.
fn is_joined(model: &Model<'_>, id: NodeId) -> bool {
    matches!(model.node(model.node(id).parent).syntax, Syntax::Expression(Expr::List(_) | Expr::Tuple(_)))
}

/// Parameters and buffers are made once.
fn is_in_constructor(model: &Model<'_>, call: &Call<'_>) -> bool {
    model.function(call.region).is_none_or(|it| model.tree.functions[it.index()].syntax.name.as_str() == "__init__")
}

/// Checks whether the result is written to, or reshaped so that the repeated axis is lost.
fn is_copy_needed(model: &Model<'_>, id: NodeId) -> bool {
    if let Some(name) = method_on(model, id) {
        return NEEDING.contains(&name) || name.ends_with('_');
    }
    let Some((_, Stmt::Assign(it))) = model.statement(id) else { return false };
    let [target] = it.targets.as_slice() else { return true };
    if model.id(&*it.value) != Some(id) {
        return false;
    }
    let text = model.source(target);
    let body = model.body(model.function(model.node(id).region));
    let mut uses = model.expressions(body).filter(|(at, it)| *at > id && model.source(*it) == text);
    uses.any(|(at, _)| {
        is_written(model, at) || method_on(model, at).is_some_and(|name| NEEDING.contains(&name) || name.ends_with('_'))
    })
}

/// Returns the method called on an expression.
fn method_on<'a>(model: &Model<'a>, id: NodeId) -> Option<&'a str> {
    let parent = model.node(id).parent;
    match model.node(parent).syntax {
        Syntax::Expression(Expr::Attribute(it)) if parent != id => Some(it.attr.as_str()),
        _ => None,
    }
}

/// `x[i] = y`, `x += y`
fn is_written(model: &Model<'_>, id: NodeId) -> bool {
    match model.node(model.node(id).parent).syntax {
        Syntax::Expression(Expr::Subscript(it)) => it.ctx.is_store() && model.id(&*it.value) == Some(id),
        Syntax::Statement(Stmt::AugAssign(_)) => true,
        _ => false,
    }
}
