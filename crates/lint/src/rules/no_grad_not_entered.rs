//! `torch.no_grad()` on a line of its own has no effect.

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::Model;
use causes::CauseId;
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("no-grad-not-entered"),
    effect: MemoryEffect::Wastes,
    summary: "`torch.no_grad()` as a statement of its own",
    help: "write `with torch.no_grad():`",
    cause: Some(CauseId::GradRecordedInEval),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    let managers = [
        "torch.no_grad",
        "torch.inference_mode",
        "torch.autograd.no_grad",
        "torch.autograd.inference_mode",
        "torch.autocast",
        "torch.amp.autocast",
    ];
    for call in model.calls().iter().filter(|call| call.is_any(&managers) && model.is_statement(call)) {
        let message = format!("`{}` is created but never entered: it has no effect", model.source(call.syntax));
        matches.add(call.syntax, message);
    }
}
