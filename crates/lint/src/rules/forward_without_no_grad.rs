//! Inference with gradients recorded.

use super::{Found, Rule};
use crate::finding::Effect;
use crate::semantics::{Call, Model, Value};
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("forward-without-no-grad"),
    effect: Effect::Wastes,
    summary: "a forward in evaluation mode with gradients recorded",
    help: "put it in `with torch.no_grad():`",
    cause: Some("grad-recorded-in-eval"),
    check,
};

fn check(model: &Model<'_>, found: &mut Found) {
    // In a file that trains it may be for a backward that is not seen.
    if model.work_of(model.calls()).backwards > 0 {
        return;
    }
    for call in model.calls() {
        let function = model.function(call.region);
        let is_alone = model.loops(call.region).next().is_none();
        // A function that gives its result to somebody else may give the graph to a backward.
        let is_kept_inside = function.is_none_or(|it| model.tree.functions[it.index()].returned.is_empty());
        if is_alone && is_kept_inside && is_made_here(model, call) && model.is_recorded_evaluation(call) {
            let module = model.source(&*call.syntax.func);
            found.at(call.syntax, format!("`{module}` saves its activations for a backward that never comes"));
        }
    }
}

/// Whether the file makes the module, of a kind that has parameters. What is only seen to have `.eval()` may have none.
fn is_made_here<'a>(model: &Model<'a>, forward: &Call<'a>) -> bool {
    model.origins(&forward.syntax.func).into_iter().any(|made| model.value(made) == Value::Module)
}
