//! `loss.backward(create_graph=True)`: a reference cycle between parameters and gradients.

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::{Model, ObservationKind, is_bool};
use causes::CauseId;
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("create-graph-in-backward"),
    effect: MemoryEffect::Wastes,
    summary: "`backward(create_graph=True)` in a loop",
    help: "use `torch.autograd.grad(..., create_graph=True)`, or set `.grad` to None after use",
    cause: Some(CauseId::ReferenceCycle),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls() {
        let Some(keyword) = call.syntax.arguments.find_keyword("create_graph") else { continue };
        let is_step = model.loops(call.region).next().is_some_and(|around| model.work_of_loop(around).steps > 0);
        if is_bool(&keyword.value, true) && is_step && model.backward_subject(call).is_some() {
            matches.add(
                keyword,
                "every gradient refers to the graph that computed it, and with it to the activations: they stay \
                alive until `.grad` is set to None, and forever if `.grad` is only zeroed",
            );
        }
    }
    matches.report(
        model,
        ObservationKind::GraphCreated,
        "the gradients have a graph of their own, which no backward uses: it holds the activations and those of the \
        backward",
    );
}
