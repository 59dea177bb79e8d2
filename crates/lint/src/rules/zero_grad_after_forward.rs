//! `zero_grad()` after the forward: too late for the peak.

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::LoopId;
use crate::semantics::{Call, Model, ObservationKind};
use causes::CauseId;
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("zero-grad-after-forward"),
    effect: MemoryEffect::Wastes,
    summary: "`zero_grad()` between forward and backward",
    help: "call `zero_grad()` right after `step()`",
    cause: Some(CauseId::GradientsAliveInForward),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    // Nobody cares for the gradients of a small network.
    if model.has_small_layers_alone() {
        return;
    }
    for zero in model.calls().iter().filter(|call| Model::is_zero_grad(call)) {
        let Some(around) = model.step_loop(zero.region).filter(|&around| model.is_training_loop(around)) else {
            continue;
        };
        let is_here = |call: &&Call<'_>| {
            model.loops(call.region).next() == Some(around) && !model.is_conditional(call.region, around)
        };
        let calls = || model.calls_between(model.tree.loops[around.index()].body).iter().filter(is_here);
        let forward = calls().find(|call| model.is_forward(call));
        let (Some(forward), Some(backward)) = (forward, calls().find(|call| model.backward_subject(call).is_some()))
        else {
            continue;
        };
        let is_late = is_here(&zero) && forward.id < zero.id && zero.id < backward.id;
        if is_late && model.work_of_loop(around).zeroes == 1 && !is_again(model, around, backward) {
            matches.add(
                zero.syntax,
                "the gradients of the previous step stay allocated during the forward, as many bytes as the \
                parameters",
            );
        }
    }
    matches.report(
        model,
        ObservationKind::ClearedAfterForward,
        "the gradients of the previous step stay allocated during the forward: clear them before it",
    );
}

/// Checks for a second backward in the loop: the cleared gradients may separate the two.
fn is_again(model: &Model<'_>, around: LoopId, first: &Call<'_>) -> bool {
    let calls = model.calls_between(model.tree.loops[around.index()].body);
    calls.iter().any(|call| call.id != first.id && model.backward_subject(call).is_some())
}
