//! `torch.no_grad()` on a line of its own does nothing.

use super::{Found, Rule};
use crate::finding::Effect;
use crate::semantics::Model;
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("no-grad-not-entered"),
    effect: Effect::Wastes,
    summary: "`torch.no_grad()` as a statement of its own",
    help: "write `with torch.no_grad():`",
    cause: Some("grad-recorded-in-eval"),
    check,
};

fn check(model: &Model<'_>, found: &mut Found) {
    let managers = [
        "torch.no_grad",
        "torch.inference_mode",
        "torch.autograd.no_grad",
        "torch.autograd.inference_mode",
        "torch.autocast",
        "torch.amp.autocast",
    ];
    for call in model.calls().iter().filter(|call| call.is_any(&managers) && model.is_statement(call)) {
        let message = format!("`{}` is made and never entered: it changes nothing", model.source(call.syntax));
        found.at(call.syntax, message);
    }
}
