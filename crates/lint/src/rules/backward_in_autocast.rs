//! A backward within `autocast`.

use report::RuleId;
use ruff_python_ast::StmtWith;

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::Model;
use crate::semantics::data::RegionKind;

pub(super) const RULE: Rule = Rule {
    id: RuleId("backward-in-autocast"),
    effect: MemoryEffect::Wastes,
    summary: "`backward` within `autocast`",
    help: "end the `autocast` block before `backward`",
    cause: None,
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls() {
        if model.backward_subject(call).is_none() {
            continue;
        }
        let is_autocast = |kind| matches!(kind, RegionKind::With(with) if enters_autocast(model, with));
        if model.regions(call.region).any(is_autocast) {
            matches.add(
                call.syntax,
                "backward runs within autocast: the lower-precision copies of the weights stay allocated until \
                the block ends, through the whole backward",
            );
        }
    }
}

fn enters_autocast(model: &Model<'_>, with: &StmtWith) -> bool {
    with.items.iter().any(|item| {
        let call = model.call(&item.context_expr);
        call.is_some_and(|call| {
            let is_torch = |path: &str| path.starts_with("torch.") && path.ends_with("autocast");
            let device = call.argument("device_type", 0).and_then(|it| it.as_string_literal_expr());
            let is_host = call.is("torch.cpu.amp.autocast") || device.is_some_and(|it| it.value.to_str() == "cpu");
            call.path.as_deref().is_some_and(is_torch) && !is_host
        })
    })
}
