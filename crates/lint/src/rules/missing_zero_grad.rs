//! A training loop without `zero_grad`.

use crate::finding::MemoryEffect;
use crate::interpreter::observed;
use crate::rule::{Matches, Rule};
use crate::semantics::data::LoopId;
use crate::semantics::{Call, Model, ObservationKind};
use causes::CauseId;
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("missing-zero-grad"),
    effect: MemoryEffect::Wastes,
    summary: "a training loop that never clears gradients",
    help: "call `optimizer.zero_grad()` after each `optimizer.step()`",
    cause: Some(CauseId::GradientsAliveInForward),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls().iter().filter(|call| model.is_optimizer_step(call)) {
        let Some(around) = model.step_loop(call.region) else { continue };
        let work = model.work_of_loop(around);
        let is_closed =
            call.is_method("step") && call.method().is_some_and(|(it, _)| model.source(it).contains("scaler"));
        let has_closure = !call.syntax.arguments.is_empty() && !is_closed;
        if work.backwards > 0
            && work.zeroes == 0
            && !has_closure
            && !may_clear(model, call, around)
            && !is_cleared_elsewhere(model, around)
        {
            matches.add(
                call.syntax,
                "no `zero_grad` in the loop: gradients of all steps add up and stay allocated during the next \
                forward",
            );
        }
    }
    matches.report(
        model,
        ObservationKind::NeverCleared,
        "no `zero_grad` for this optimizer in the loop: its gradients of all steps add up and stay allocated during the next \
        forward",
    );
}

/// Checks whether a call within the loop clears gradients, through any number of functions.
fn is_cleared_elsewhere(model: &Model<'_>, around: LoopId) -> bool {
    let at = model.tree.loops[around.index()].node;
    observed(model, ObservationKind::GradientsCleared).any(|it| it.at == at)
}

/// Checks whether code in or around the loop may clear gradients in an unseen way.
fn may_clear(model: &Model<'_>, step: &Call<'_>, around: LoopId) -> bool {
    let body = model.tree.loops[around.index()].body;
    let function = model.body(model.function(step.region));
    let words = ["zero", "clear", "reset", "grad"];
    let is_clearing = |call: &Call<'_>| {
        let name = model.source(&*call.syntax.func).to_ascii_lowercase();
        let name = name.rsplit('.').next().unwrap_or_default();
        words.iter().any(|word| name.contains(word)) && !name.starts_with("clip_grad") && !name.ends_with("no_grad")
    };
    // `optimizer.zero_grad` without parentheses: reported by `method-not-called`.
    let is_named =
        model.expressions(body).any(|(_, it)| it.as_attribute_expr().is_some_and(|it| it.attr.as_str() == "zero_grad"));
    is_named
        || model.clears_by_hand(body)
        || model.clears_by_hand(function)
        || model.calls_between(body).iter().any(is_clearing)
}
