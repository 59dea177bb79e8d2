//! Two allocator settings that work against each other.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::Expr;

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::Model;

pub(super) const RULE: Rule = Rule {
    id: RuleId("max-split-size-with-expandable-segments"),
    effect: MemoryEffect::Wastes,
    summary: "`max_split_size_mb` together with `expandable_segments`",
    help: "set `expandable_segments:True` alone",
    cause: Some(CauseId::AllocatorSettingHarmful),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    for (_, expression) in model.expressions(model.body(None)) {
        let Expr::StringLiteral(it) = expression else { continue };
        let text = it.value.to_str();
        if text.contains("expandable_segments:True")
            && text.contains("max_split_size_mb:")
            && !text.contains(char::is_whitespace)
        {
            matches.add(
                it,
                "the allocator never splits blocks above `max_split_size_mb`, and an expandable segment is one \
                growing block: its free memory cannot be reused",
            );
        }
    }
}
