//! Pairwise distances computed from all differences.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::{Expr, Operator};

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::Model;
use crate::semantics::data::{NodeId, Syntax};

pub(super) const RULE: Rule = Rule {
    id: RuleId("pairwise-by-broadcasting"),
    effect: MemoryEffect::Wastes,
    summary: "all pairwise differences of two sets of vectors in one tensor",
    help: "use `torch.cdist`",
    cause: Some(CauseId::OneHugeRequest),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    for (id, expression) in model.expressions(model.body(None)) {
        let Expr::BinOp(it) = expression else { continue };
        let (Some(left), Some(right)) = (new_axis(model, &it.left), new_axis(model, &it.right)) else { continue };
        if it.op == Operator::Sub && left != right && is_reduced(model, id) {
            matches.add(
                expression,
                "the differences of all pairs of vectors are stored in one tensor, as wide as the vectors, before \
                the sum",
            );
        }
    }
}

/// Returns the index of the inserted axis: `x[:, None]`, `x.unsqueeze(1)`.
fn new_axis(model: &Model<'_>, expression: &Expr) -> Option<usize> {
    match expression {
        Expr::Subscript(it) => match &*it.slice {
            Expr::Tuple(tuple) => tuple.elts.iter().position(Expr::is_none_literal_expr),
            Expr::NoneLiteral(_) => Some(0),
            _ => None,
        },
        Expr::Call(_) => {
            let call = model.call(expression).filter(|call| call.is_method("unsqueeze"))?;
            call.argument("dim", 0)?.as_number_literal_expr()?.value.as_int()?.as_usize()
        }
        _ => None,
    }
}

/// Checks whether the difference is squared or made absolute, and summed over the last axis: a distance.
fn is_reduced(model: &Model<'_>, id: NodeId) -> bool {
    let Syntax::Expression(power) = above(model, id) else { return false };
    let is_power = match power {
        Expr::BinOp(it) => it.op == Operator::Pow,
        Expr::Attribute(it) => matches!(it.attr.as_str(), "pow" | "abs" | "square" | "norm"),
        _ => false,
    };
    let Some((_, statement)) = model.statement(id) else { return false };
    let text = model.source(statement);
    is_power
        && ["sum(-1", "sum(dim=-1", "sum(2", "sum(dim=2", "norm(dim=-1", "sum(axis=-1"]
            .iter()
            .any(|it| text.contains(it))
}

fn above<'a>(model: &Model<'a>, id: NodeId) -> Syntax<'a> {
    model.node(model.node(id).parent).syntax
}
