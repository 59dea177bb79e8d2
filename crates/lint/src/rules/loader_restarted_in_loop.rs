//! `next(iter(loader))` in every step.

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::Model;
use causes::CauseId;
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("loader-restarted-in-loop"),
    effect: MemoryEffect::Wastes,
    summary: "`next(iter(loader))` in a loop",
    help: "create the iterator once, before the loop",
    cause: Some(CauseId::HostMemory),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls().iter().filter(|call| call.is("next")) {
        let iterator = call.syntax.arguments.args.first().and_then(|it| model.call(it)).filter(|call| call.is("iter"));
        let loader = iterator.and_then(|call| call.syntax.arguments.args.first());
        if loader.is_some_and(|loader| model.is_called_loader(loader)) && model.runs_with_steps(call) {
            matches.add(
                call.syntax,
                "every step restarts the loader: it starts its workers again and discards \
                                     their prefetched batches",
            );
        }
    }
}
