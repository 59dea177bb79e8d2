//! Arguments of `torch.amp` under the name of the other function.

use super::{Found, Rule, fix};
use crate::finding::{Applicability, Effect};
use crate::semantics::Model;
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("amp-argument-names"),
    effect: Effect::Wastes,
    summary: "`GradScaler(device_type=...)` and `autocast(device=...)`",
    help: "`GradScaler` takes `device`, `autocast` takes `device_type`",
    cause: None,
    check,
};

fn check(model: &Model<'_>, found: &mut Found) {
    for call in model.calls() {
        let (wrong, right) = match call.path.as_deref() {
            Some("torch.amp.GradScaler" | "torch.GradScaler") => ("device_type", "device"),
            Some("torch.amp.autocast" | "torch.autocast") => ("device", "device_type"),
            _ => continue,
        };
        let keyword = call.syntax.arguments.find_keyword(wrong);
        if let Some((keyword, name)) = keyword.and_then(|keyword| Some((keyword, keyword.arg.as_ref()?))) {
            let message = format!(
                "`{}` has no argument `{wrong}`: the program ends here with a TypeError",
                model.source(&*call.syntax.func)
            );
            found.at(keyword, message).fix = Some(fix::replace(name, right, Applicability::Safe));
        }
    }
}
