//! `x = torch.cat([x, y])` for every batch.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::{Expr, Stmt};

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::NodeId;
use crate::semantics::{Call, Model};

pub(super) const RULE: Rule = Rule {
    id: RuleId("cat-in-loop"),
    effect: MemoryEffect::Style,
    summary: "a tensor that grows by `torch.cat` with every batch",
    help: "append to a list, and call `torch.cat` once after the loop",
    cause: Some(CauseId::GrowingCollection),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    let joins = ["torch.cat", "torch.concat", "torch.concatenate", "torch.vstack", "torch.hstack"];
    for call in model.calls().iter().filter(|call| call.is_any(&joins)) {
        let Some(Expr::List(_) | Expr::Tuple(_)) = call.argument("tensors", 0) else { continue };
        let Some((id, Stmt::Assign(it))) = model.statement(call.id) else { continue };
        let [Expr::Name(target)] = it.targets.as_slice() else { continue };
        if model.id(&*it.value) == Some(call.id) && is_only_collected(model, call, id, target.id.as_str()) {
            let message = format!(
                "all of `{}` is copied with every batch: quadratic time, and each copy needs a block of a new \
                size",
                target.id
            );
            matches.add(call.syntax, message);
        }
    }
}

/// Checks whether the loop uses the name only in the concatenation.
fn is_only_collected(model: &Model<'_>, call: &Call<'_>, statement: NodeId, name: &str) -> bool {
    let Some(around) = model.loops(call.region).next().filter(|&id| model.is_over_batches(id)) else { return false };
    let range = (statement, model.node(statement).last);
    let uses = |range| {
        model.expressions(range).filter(|(_, it)| it.as_name_expr().is_some_and(|it| it.id.as_str() == name)).count()
    };
    let carried = model.expressions(range).filter_map(|(_, it)| it.as_name_expr()).any(|it| {
        it.id.as_str() == name
            && it.ctx.is_load()
            && model.carrying_loop(statement, model.definition(it)) == Some(around)
    });
    carried && uses(range) == 2 && uses(model.tree.loops[around.index()].body) == 2
}
