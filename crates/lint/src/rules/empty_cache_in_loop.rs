//! `torch.cuda.empty_cache()` in every step.

use super::{Found, Rule, fix};
use crate::finding::{Applicability, Effect};
use crate::semantics::Model;
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("empty-cache-in-loop"),
    effect: Effect::Wastes,
    summary: "`torch.cuda.empty_cache()` in every step of a loop",
    help: "leave it out; call it once between phases if another process needs the memory",
    cause: Some("cache-flushed"),
    check,
};

fn check(model: &Model<'_>, found: &mut Found) {
    for call in model.calls().iter().filter(|call| call.is("torch.cuda.empty_cache")) {
        if model.made_in_each_step(call).is_none() {
            continue;
        }
        let message = "the cache is given back to the driver with every step and asked for again: cudaFree waits for the GPU, and the peak of this process stays what it was";
        let statement = model.statement(call.id).filter(|_| model.is_statement(call));
        let fix = statement.and_then(|(id, statement)| fix::delete(model, id, statement, Applicability::Safe));
        found.at(call.syntax, message).fix = fix;
    }
}
