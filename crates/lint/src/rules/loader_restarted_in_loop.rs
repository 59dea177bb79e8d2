//! `next(iter(loader))` in every step.

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::{Model, ValueKind};
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
        let is_loader = loader.is_some_and(|loader| model.value(loader) == ValueKind::Loader);
        if is_loader
            && model.loops(call.region).any(|around| model.work_of_loop(around).backwards > 0)
            && is_each_step(model, call)
        {
            matches.add(
                call.syntax,
                "every step restarts the loader: it starts its workers again and discards \
                                     their prefetched batches",
            );
        }
    }
}

fn is_each_step(model: &Model<'_>, call: &crate::semantics::Call<'_>) -> bool {
    model.loops(call.region).next().is_some_and(|around| !model.is_conditional(call.region, around))
}
