//! `gc.collect()` in every step.

use super::{Found, Rule, fix};
use crate::finding::{Applicability, Effect};
use crate::semantics::Model;
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("gc-collect-in-loop"),
    effect: Effect::Wastes,
    summary: "`gc.collect()` in every step of a loop",
    help: "leave it out; where it does free tensors, break the reference cycle that holds them",
    cause: Some("reference-cycle"),
    check,
};

fn check(model: &Model<'_>, found: &mut Found) {
    for call in model.calls().iter().filter(|call| call.is("gc.collect")) {
        if model.made_in_each_step(call).is_none() {
            continue;
        }
        let message = "all of Python's objects are walked with every step; tensors are freed without it as soon as nothing refers to them";
        let statement = model.statement(call.id).filter(|_| model.is_statement(call));
        let fix = statement.and_then(|(id, statement)| fix::delete(model, id, statement, Applicability::Safe));
        found.at(call.syntax, message).fix = fix;
    }
}
