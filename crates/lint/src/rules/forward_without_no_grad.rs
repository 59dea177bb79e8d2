//! Inference with gradients recorded.

use crate::finding::MemoryEffect;
use crate::interpreter::observed;
use crate::rule::{Matches, Rule};
use crate::semantics::data::Syntax;
use crate::semantics::{Call, Model, ObservationKind, ValueKind, ran_module};
use causes::CauseId;
use report::RuleId;
use ruff_python_ast::Expr;

pub(super) const RULE: Rule = Rule {
    id: RuleId("forward-without-no-grad"),
    effect: MemoryEffect::Wastes,
    summary: "a forward in evaluation mode with gradients recorded",
    help: "put the call in `with torch.no_grad():`",
    cause: Some(CauseId::GradRecordedInEval),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    check_patterns(model, matches);
    if has_explainer(model) {
        return;
    }
    for observation in observed(model, ObservationKind::RecordedForward) {
        let Syntax::Expression(expression) = model.node(observation.at).syntax else { continue };
        if !matches.covers(expression) {
            let text = model.source(expression).lines().next().unwrap_or_default();
            matches
                .add(expression, format!("`{text}` saves its activations for a backward that never runs"))
                .certainty = observation.certainty;
        }
    }
}

fn check_patterns(model: &Model<'_>, matches: &mut Matches) {
    // A file that trains may run the backward out of sight.
    let work = model.work_of(model.calls());
    if work.backwards + work.steps > 0 || has_explainer(model) {
        return;
    }
    for call in model.calls() {
        let function = model.function(call.region);
        let is_alone = model.loops(call.region).next().is_none();
        // A function that returns its result may pass the graph to a backward.
        let is_kept_inside = function.is_none_or(|it| model.tree.functions[it.index()].returned.is_empty());
        let is_found = is_alone && is_kept_inside && is_made_here(model, call) && !is_adapter(model, call);
        if is_found && model.is_recorded_evaluation(call) {
            let module = model.source(ran_module(call));
            matches.add(call.syntax, format!("`{module}` saves its activations for a backward that never runs"));
        }
    }
}

/// Checks for a model of `PeftModel.from_pretrained`, which freezes all weights.
fn is_adapter<'a>(model: &Model<'a>, forward: &Call<'a>) -> bool {
    let made = model.origins(ran_module(forward)).into_iter().filter_map(|it| model.call(it));
    made.filter_map(|call| call.path.as_deref()).any(|path| path.starts_with("peft.PeftModel"))
}

/// Checks whether the file creates the module or loads its weights. A module known only by `.eval()` may have no parameters.
fn is_made_here<'a>(model: &Model<'a>, forward: &Call<'a>) -> bool {
    let module = ran_module(forward);
    model.is_loaded(module) || model.origins(module).into_iter().any(|it| is_created(model, it))
}

/// Checks for a value that is a module without regard to `.eval()`, which says nothing of parameters.
fn is_created<'a>(model: &Model<'a>, mut made: &'a Expr) -> bool {
    while let Some((receiver, "eval")) = model.call(made).and_then(Call::method) {
        made = receiver;
    }
    model.value(made) == ValueKind::Module
}

/// Checks for a package that runs the backward itself from the outputs that it is given.
fn has_explainer(model: &Model<'_>) -> bool {
    ["captum", "torchcam", "grad_cam", "gradcam"].iter().any(|name| model.text.contains(name))
}
