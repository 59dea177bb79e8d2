//! Arguments of `torch.amp` under the other function's name.

use crate::edits;
use crate::finding::{Applicability, MemoryEffect};
use crate::rule::{Matches, Rule};
use crate::semantics::Model;
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("amp-argument-names"),
    effect: MemoryEffect::Wastes,
    summary: "`GradScaler(device_type=...)` or `autocast(device=...)`, each with the other function's argument \
             name",
    help: "`GradScaler` takes `device`, `autocast` takes `device_type`",
    cause: None,
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls() {
        let (wrong, right) = match call.path.as_deref() {
            Some("torch.amp.GradScaler" | "torch.GradScaler") => ("device_type", "device"),
            Some("torch.amp.autocast" | "torch.autocast") => ("device", "device_type"),
            _ => continue,
        };
        let keyword = call.syntax.arguments.find_keyword(wrong);
        if let Some((keyword, name)) = keyword.and_then(|keyword| Some((keyword, keyword.arg.as_ref()?))) {
            let message =
                format!("`{}` has no argument `{wrong}`: the call raises TypeError", model.source(&*call.syntax.func));
            matches.add(keyword, message).fix = Some(edits::replace(name, right, Applicability::Safe));
        }
    }
}
