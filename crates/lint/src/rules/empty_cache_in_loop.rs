//! `torch.cuda.empty_cache()` in every step.

use crate::edits;
use crate::finding::{Applicability, MemoryEffect};
use crate::rule::{Matches, Rule};
use crate::semantics::Model;
use causes::CauseId;
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("empty-cache-in-loop"),
    effect: MemoryEffect::Wastes,
    summary: "`torch.cuda.empty_cache()` in every step of a loop",
    help: "remove the call; call it once between phases if another process needs the memory",
    cause: Some(CauseId::CacheFlushed),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls().iter().filter(|call| call.is("torch.cuda.empty_cache")) {
        if !model.runs_with_steps(call) {
            continue;
        }
        let message = "every step releases the cache to the driver and reserves it again: cudaFree waits for the \
                      GPU, and the peak of this process does not change";
        let statement = model.statement(call.id).filter(|_| model.is_statement(call));
        let fix = statement.and_then(|(id, statement)| edits::delete(model, id, statement, Applicability::Safe));
        matches.add(call.syntax, message).fix = fix;
    }
}
