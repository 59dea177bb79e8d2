//! `loss.backward(retain_graph=True)` without another use of the graph.

use crate::edits;
use crate::finding::{Applicability, MemoryEffect};
use crate::rule::{Matches, Rule};
use crate::semantics::{Model, ObservationKind, is_bool};
use causes::CauseId;
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("retain-graph-in-loop"),
    effect: MemoryEffect::Wastes,
    summary: "`backward(retain_graph=True)` as the only backward of a training step",
    help: "remove `retain_graph`; detach tensors carried over from the previous step",
    cause: Some(CauseId::RetainedGraph),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls() {
        let Some(keyword) = call.syntax.arguments.find_keyword("retain_graph") else { continue };
        if !is_bool(&keyword.value, true) || model.backward_subject(call).is_none() {
            continue;
        }
        let Some(around) = model.step_loop(call.region) else { continue };
        let work = model.work_of_loop(around);
        // A second backward, or a gradient of the gradient, needs the retained graph.
        if work.backwards == 1 && work.grads == 0 && work.steps > 0 {
            let message = "the graph is retained but no other backward of the step uses it: its activations stay \
                          alive during the next forward";
            matches.add(keyword, message).fix = Some(edits::replace(&keyword.value, "False", Applicability::Unsafe));
        }
    }
    matches.report(
        model,
        ObservationKind::GraphRetained,
        "the graph is retained but no later backward of the step uses it: its activations stay alive during the next \
        forward",
    );
}
