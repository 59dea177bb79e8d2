//! Two allocator settings that work against each other.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::Expr;

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::Model;
use crate::semantics::data::Syntax;

pub(super) const RULE: Rule = Rule {
    id: RuleId("max-split-size-with-expandable-segments"),
    effect: MemoryEffect::Wastes,
    summary: "`max_split_size_mb` together with `expandable_segments`",
    help: "set `expandable_segments:True` alone",
    cause: Some(CauseId::AllocatorSettingHarmful),
    check,
};

const MESSAGE: &str = "the allocator never splits blocks above `max_split_size_mb`, and an expandable segment is one growing block: its free \
                       memory cannot be reused";

fn check(model: &Model<'_>, matches: &mut Matches) {
    let mut is_found = false;
    for (_, expression) in model.expressions(model.body(None)) {
        let Expr::StringLiteral(it) = expression else { continue };
        let text = it.value.to_str();
        if is_contradiction(text) && !text.trim().contains(['\n', ' ']) {
            matches.add(it, MESSAGE);
            is_found = true;
        }
    }
    if is_found {
        return;
    }
    for setting in model.allocator_settings() {
        if model.texts(setting.assigned).iter().any(|it| is_contradiction(it)) {
            match model.node(setting.at).syntax {
                Syntax::Statement(it) => matches.add(it, MESSAGE),
                Syntax::Expression(it) => matches.add(it, MESSAGE),
            };
        }
    }
}

fn is_contradiction(text: &str) -> bool {
    text.contains("expandable_segments:True") && text.contains("max_split_size_mb:")
}
