//! `zero_grad(set_to_none=False)`: gradients that stay allocated.

use super::{Found, Rule, fix};
use crate::finding::{Applicability, Effect};
use crate::semantics::{Model, is_bool};
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("gradients-kept-as-zeros"),
    effect: Effect::Wastes,
    summary: "`zero_grad(set_to_none=False)`",
    help: "leave `set_to_none` out: None is the default",
    cause: Some("gradients-alive-in-forward"),
    check,
};

fn check(model: &Model<'_>, found: &mut Found) {
    for call in model.calls().iter().filter(|call| call.is_method("zero_grad")) {
        let Some(value) = call.argument("set_to_none", 0).filter(|value| is_bool(value, false)) else { continue };
        let message = "gradients are filled with zeros and stay allocated through the next forward, as many bytes as the parameters";
        found.at(call.syntax, message).fix = Some(fix::replace(value, "True", Applicability::Unsafe));
    }
}
