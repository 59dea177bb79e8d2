//! `list(loader)`: every batch at once.

use report::RuleId;
use ruff_python_ast::Expr;

use super::{Found, Rule};
use crate::finding::Effect;
use crate::semantics::{Model, Value};

pub(super) const RULE: Rule = Rule {
    id: RuleId("loader-in-list"),
    effect: Effect::Wastes,
    summary: "all batches of a DataLoader in one list",
    help: "go through the loader",
    cause: Some("host-memory"),
    check,
};

fn check(model: &Model<'_>, found: &mut Found) {
    for call in model.calls().iter().filter(|call| call.is_any(&["list", "tuple", "sorted"])) {
        if let [argument] = &*call.syntax.arguments.args {
            tell(model, found, call.syntax, argument);
        }
    }
    for (_, expression) in model.expressions(model.body(None)) {
        if let Expr::ListComp(it) = expression {
            // Only what keeps the batch itself: `[len(batch) for batch in loader]` is fine.
            let [generator] = it.generators.as_slice() else { continue };
            let is_batch =
                it.elt.as_name_expr().zip(generator.target.as_name_expr()).is_some_and(|(a, b)| a.id == b.id);
            if is_batch {
                tell(model, found, expression, &generator.iter);
            }
        }
    }
}

fn tell<'a>(model: &Model<'a>, found: &mut Found, whole: &impl ruff_text_size::Ranged, loader: &'a Expr) {
    if model.value(loader) == Value::Loader {
        found.at(whole, format!("every batch of `{}` is kept in memory at once", model.source(loader)));
    }
}
