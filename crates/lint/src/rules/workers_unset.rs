//! A DataLoader without workers.

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::unpacked::GivenArgument;
use crate::semantics::{Call, Model};
use causes::CauseId;
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("workers-unset"),
    effect: MemoryEffect::Style,
    summary: "a DataLoader without `num_workers`",
    help: "set `num_workers`: without workers the GPU waits for each batch",
    cause: Some(CauseId::HostMemory),
    check,
};

const LOADER: &str = "torch.utils.data.DataLoader";

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls() {
        let is_unset = model.makes_loader(call)
            && model.partial_loader(call).is_none()
            && matches!(model.given(call, "num_workers", 5), GivenArgument::Absent);
        if is_unset || (is_unset_in_partial(model, call) && !is_set_later(model)) {
            matches.add(call.syntax, "the training process loads the batches itself while the GPU waits");
        }
    }
}

/// `partial(DataLoader, batch_size=8)`
fn is_unset_in_partial<'a>(model: &Model<'a>, call: &Call<'a>) -> bool {
    let made = call.syntax.arguments.args.first().filter(|_| call.is("functools.partial"));
    let is_loader = made.is_some_and(|it| model.path(it).as_deref() == Some(LOADER));
    is_loader && matches!(model.given(call, "num_workers", 6), GivenArgument::Absent)
}

/// Checks whether a call of something else passes workers, or unknown arguments.
fn is_set_later(model: &Model<'_>) -> bool {
    model.calls().iter().any(|call| !call.is(LOADER) && call.keyword("num_workers").is_some())
}
