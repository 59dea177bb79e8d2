//! An evaluation loop without `torch.no_grad()`.

use report::RuleId;

use crate::finding::Effect;
use crate::rule::{Matches, Rule};
use crate::semantics::Model;
use crate::semantics::data::LoopId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("grad-recorded-in-eval"),
    effect: Effect::Wastes,
    summary: "an evaluation loop without `torch.no_grad()`",
    help: "put the loop in `with torch.no_grad():`, or decorate the function with `@torch.no_grad()`",
    cause: Some("grad-recorded-in-eval"),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    let mut told: Vec<LoopId> = Vec::new();
    for call in model.calls() {
        let Some(around) = model.loops(call.region).next().filter(|around| !told.contains(around)) else { continue };
        if model.is_recorded_evaluation(call) {
            told.push(around);
            let module = model.source(&*call.syntax.func);
            matches.add(
                call.syntax,
                format!(
                    "`{module}` is evaluated with gradients recorded: every forward saves its activations for \
                        a backward that never runs"
                ),
            );
        }
    }
}
