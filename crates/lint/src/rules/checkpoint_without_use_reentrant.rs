//! `checkpoint` without `use_reentrant`.

use crate::edits;
use crate::finding::{Applicability, MemoryEffect};
use crate::rule::{Matches, Rule};
use crate::semantics::unpacked::GivenArgument;
use crate::semantics::{Call, Model};
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("checkpoint-without-use-reentrant"),
    effect: MemoryEffect::Style,
    summary: "`checkpoint` without `use_reentrant`",
    help: "pass `use_reentrant=False`",
    cause: None,
    check,
};

/// The functions that checkpoint.
const FUNCTIONS: [&str; 2] = ["torch.utils.checkpoint.checkpoint", "torch.utils.checkpoint.checkpoint_sequential"];

const MESSAGE: &str = "without `use_reentrant` PyTorch warns and uses the reentrant variant: a block whose inputs require no gradient computes \
                       no gradients, and recomputation always runs to the end of the block";

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls() {
        let is_called = call.is_any(&FUNCTIONS);
        if (!is_called && !is_partial(model, call)) || !is_absent(model, call, is_called) {
            continue;
        }
        let fix = edits::add_keyword(model, call.syntax, "use_reentrant=False", Applicability::Unsafe);
        matches.add(call.syntax, MESSAGE).fix = fix;
    }
}

/// Checks for `partial(checkpoint, ...)`, where no call passes the argument later.
fn is_partial<'a>(model: &Model<'a>, call: &Call<'a>) -> bool {
    let made = call.syntax.arguments.args.first().filter(|_| call.is("functools.partial"));
    let is_checkpoint = made.and_then(|it| model.path(it)).is_some_and(|path| FUNCTIONS.contains(&&*path));
    let is_given = |it: &Call<'_>| !it.is_any(&FUNCTIONS) && it.keyword("use_reentrant").is_some() && it.id != call.id;
    is_checkpoint && !model.calls().iter().any(is_given)
}

/// Checks whether a call does not pass the argument; positional arguments belong to the function.
fn is_absent<'a>(model: &Model<'a>, call: &Call<'a>, is_called: bool) -> bool {
    if is_called && call.has_unpacked() {
        let is_known = call.syntax.arguments.args.iter().all(|it| !it.is_starred_expr());
        return is_known && matches!(model.given(call, "use_reentrant", usize::MAX), GivenArgument::Absent);
    }
    matches!(model.given(call, "use_reentrant", usize::MAX), GivenArgument::Absent)
}
