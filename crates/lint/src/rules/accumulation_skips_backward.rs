//! Gradient accumulation that skips the backward of one batch.

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::RegionKind;
use crate::semantics::{Model, ObservationKind};
use report::RuleId;
use ruff_text_size::Ranged;

pub(super) const RULE: Rule = Rule {
    id: RuleId("accumulation-skips-backward"),
    effect: MemoryEffect::Wastes,
    summary: "gradient accumulation without a backward for the batch that takes the step",
    help: "call `backward` for every batch and `step` for every n-th",
    cause: None,
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    for step in model.calls().iter().filter(|call| model.is_optimizer_step(call)) {
        let Some(around) = model.step_loop(step.region) else { continue };
        // The condition with a remainder around the step, and its branch.
        let choice = model.regions_within(step.region, around).find_map(|kind| match kind {
            RegionKind::If(condition, arm) if model.has_remainder(condition) => Some((condition, arm)),
            _ => None,
        });
        let Some((condition, arm)) = choice else { continue };
        let is_in_other_arm = |region| {
            model.regions_within(region, around).any(
                |kind| matches!(kind, RegionKind::If(it, other) if it.range() == condition.range() && other != arm),
            )
        };
        let body = model.tree.loops[around.index()].body;
        let mut backwards =
            model.calls_between(body).iter().filter(|call| model.backward_subject(call).is_some()).peekable();
        if backwards.peek().is_some()
            && model.work_of_loop(around).backwards == 1
            && backwards.all(|call| is_in_other_arm(call.region))
        {
            matches.add(
                step.syntax,
                "the batch that takes the optimizer step has no backward: its forward is \
                                     wasted and its loss adds no gradient",
            );
        }
    }
    if !matches.list.is_empty() {
        return;
    }
    matches.report(
        model,
        ObservationKind::BackwardSkipped,
        "only the loss of every n-th batch has a backward: the forwards of the others are wasted and add no gradient",
    );
}
