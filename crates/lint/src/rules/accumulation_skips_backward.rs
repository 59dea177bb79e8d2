//! Gradient accumulation that leaves one batch out.

use super::accumulation_without_division::has_remainder;
use super::{Found, Rule};
use crate::finding::Effect;
use crate::semantics::Model;
use crate::semantics::data::RegionKind;
use report::RuleId;
use ruff_text_size::Ranged;

pub(super) const RULE: Rule = Rule {
    id: RuleId("accumulation-skips-backward"),
    effect: Effect::Wastes,
    summary: "gradient accumulation in which the batch of the step has no backward",
    help: "call `backward` for every batch, and `step` for every n-th",
    cause: None,
    check,
};

fn check(model: &Model<'_>, found: &mut Found) {
    for step in model.calls().iter().filter(|call| model.is_optimizer_step(call)) {
        let Some(around) = model.step_loop(step.region) else { continue };
        // The `if` with a remainder whose one arm steps, and which arm that is.
        let choice = model.regions_within(step.region, around).find_map(|kind| match kind {
            RegionKind::If(condition, arm) if has_remainder(model, condition) => Some((condition, arm)),
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
            found.at(step.syntax, "the batch with which the step is taken has no backward: its forward was for nothing, and its loss is left out");
        }
    }
}
