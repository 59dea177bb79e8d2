//! `optimizer.zero_grad` without parentheses.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::Ranged;

use crate::edits;
use crate::finding::{Applicability, MemoryEffect};
use crate::rule::{Matches, Rule};
use crate::semantics::{Model, ValueKind, is_called_optimizer};

pub(super) const RULE: Rule = Rule {
    id: RuleId("method-not-called"),
    effect: MemoryEffect::Wastes,
    summary: "`optimizer.zero_grad` without parentheses",
    help: "add `()`",
    cause: Some(CauseId::GradientsAliveInForward),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    for (_, statement) in model.statements() {
        let Stmt::Expr(it) = statement else { continue };
        let Expr::Attribute(attribute) = &*it.value else { continue };
        let is_path = matches!(model.path(&it.value).as_deref(), Some("torch.cuda.empty_cache"));
        let is_method = match attribute.attr.as_str() {
            "zero_grad" => is_called_optimizer(&attribute.value) || is_known(model, &attribute.value),
            "eval" => model.value(&attribute.value) == ValueKind::Module,
            "backward" => model.value(&attribute.value).is_recorded(),
            _ => false,
        };
        if is_path || is_method {
            let message = format!("`{}` refers to the function without calling it", model.source(&*it.value));
            let end = it.value.range().end().to_usize();
            matches.add(statement, message).fix = Some(edits::insert(end, "()", Applicability::Unsafe));
        }
    }
}

fn is_known<'a>(model: &Model<'a>, object: &'a Expr) -> bool {
    matches!(model.value(object), ValueKind::Optimizer | ValueKind::Module)
}
