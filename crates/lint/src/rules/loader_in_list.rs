//! `list(loader)`: all batches at once.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::Expr;

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::{Model, ValueKind};

pub(super) const RULE: Rule = Rule {
    id: RuleId("loader-in-list"),
    effect: MemoryEffect::Wastes,
    summary: "all batches of a DataLoader in one list",
    help: "iterate over the loader",
    cause: Some(CauseId::HostMemory),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls().iter().filter(|call| call.is_any(&["list", "tuple", "sorted"])) {
        if let [argument] = &*call.syntax.arguments.args {
            report_list(model, matches, call.syntax, argument);
        }
    }
    for (_, expression) in model.expressions(model.body(None)) {
        if let Expr::ListComp(it) = expression {
            // Only lists of the batches themselves: `[len(batch) for batch in loader]` is fine.
            let [generator] = it.generators.as_slice() else { continue };
            let is_batch =
                it.elt.as_name_expr().zip(generator.target.as_name_expr()).is_some_and(|(a, b)| a.id == b.id);
            if is_batch {
                report_list(model, matches, expression, &generator.iter);
            }
        }
    }
}

fn report_list<'a>(model: &Model<'a>, matches: &mut Matches, whole: &impl ruff_text_size::Ranged, loader: &'a Expr) {
    if model.value(loader) == ValueKind::Loader {
        matches.add(whole, format!("all batches of `{}` stay in memory at once", model.source(loader)));
    }
}
