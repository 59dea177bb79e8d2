//! Inference with gradients recorded.

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::{Call, Model, ValueKind};
use causes::CauseId;
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("forward-without-no-grad"),
    effect: MemoryEffect::Wastes,
    summary: "a forward in evaluation mode with gradients recorded",
    help: "put the call in `with torch.no_grad():`",
    cause: Some(CauseId::GradRecordedInEval),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    // A file that trains may run the backward out of sight.
    if model.work_of(model.calls()).backwards > 0 {
        return;
    }
    for call in model.calls() {
        let function = model.function(call.region);
        let is_alone = model.loops(call.region).next().is_none();
        // A function that returns its result may pass the graph to a backward.
        let is_kept_inside = function.is_none_or(|it| model.tree.functions[it.index()].returned.is_empty());
        if is_alone && is_kept_inside && is_made_here(model, call) && model.is_recorded_evaluation(call) {
            let module = model.source(&*call.syntax.func);
            matches.add(call.syntax, format!("`{module}` saves its activations for a backward that never runs"));
        }
    }
}

/// Checks whether the file creates the module. A module known only by `.eval()` may have no parameters.
fn is_made_here<'a>(model: &Model<'a>, forward: &Call<'a>) -> bool {
    model.origins(&forward.syntax.func).into_iter().any(|made| model.value(made) == ValueKind::Module)
}
