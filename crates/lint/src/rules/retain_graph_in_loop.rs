//! `loss.backward(retain_graph=True)` where nothing else goes through the graph.

use super::{Found, Rule, fix};
use crate::finding::{Applicability, Effect};
use crate::semantics::{Model, is_bool};
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("retain-graph-in-loop"),
    effect: Effect::Wastes,
    summary: "`backward(retain_graph=True)` as the only backward of a training step",
    help: "leave `retain_graph` out; detach what is carried over from the step before",
    cause: Some("retained-graph"),
    check,
};

fn check(model: &Model<'_>, found: &mut Found) {
    for call in model.calls() {
        let Some(keyword) = call.syntax.arguments.find_keyword("retain_graph") else { continue };
        if !is_bool(&keyword.value, true) || model.backward_subject(call).is_none() {
            continue;
        }
        let Some(around) = model.step_loop(call.region) else { continue };
        let work = model.work_of_loop(around);
        // A second backward, or a gradient of it, is what the graph is retained for.
        if work.backwards == 1 && work.grads == 0 && work.steps > 0 {
            let message = "the graph is retained and no other backward of the step uses it: the activations stay alive \
                           while the next step's are made";
            found.at(keyword, message).fix = Some(fix::replace(&keyword.value, "False", Applicability::Unsafe));
        }
    }
}
