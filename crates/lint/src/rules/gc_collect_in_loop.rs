//! `gc.collect()` in every step.

use crate::edits;
use crate::finding::{Applicability, MemoryEffect};
use crate::rule::{Matches, Rule};
use crate::semantics::Model;
use causes::CauseId;
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("gc-collect-in-loop"),
    effect: MemoryEffect::Wastes,
    summary: "`gc.collect()` in every step of a loop",
    help: "remove the call; if it frees tensors, break the reference cycle that keeps them alive",
    cause: Some(CauseId::ReferenceCycle),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls().iter().filter(|call| call.is("gc.collect")) {
        if !model.runs_with_steps(call) {
            continue;
        }
        let message = "every step walks all Python objects; tensors without a reference are freed without the \
                      collector";
        let statement = model.statement(call.id).filter(|_| model.is_statement(call));
        let fix = statement.and_then(|(id, statement)| edits::delete(model, id, statement, Applicability::Safe));
        matches.add(call.syntax, message).fix = fix;
    }
}
