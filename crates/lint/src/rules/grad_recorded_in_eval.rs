//! An evaluation loop without `torch.no_grad()`.

use causes::CauseId;
use report::RuleId;

use crate::finding::MemoryEffect;
use crate::interpreter::observed;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{LoopId, Syntax};
use crate::semantics::{Model, Observation, ObservationKind, ran_module};

pub(super) const RULE: Rule = Rule {
    id: RuleId("grad-recorded-in-eval"),
    effect: MemoryEffect::Wastes,
    summary: "an evaluation loop without `torch.no_grad()`",
    help: "run the forward in `with torch.no_grad():`, or decorate a function that only evaluates with `@torch.no_grad()`",
    cause: Some(CauseId::GradRecordedInEval),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    let mut reported: Vec<LoopId> = Vec::new();
    for call in model.calls() {
        let Some(around) = model.loops(call.region).next().filter(|around| !reported.contains(around)) else {
            continue;
        };
        if model.is_recorded_evaluation(call) {
            reported.push(around);
            let module = model.source(ran_module(call));
            matches.add(
                call.syntax,
                format!(
                    "`{module}` is evaluated with gradients recorded: every forward saves its activations for \
                        a backward that never runs"
                ),
            );
        }
    }
    for observation in observed(model, ObservationKind::RecordedLoop) {
        report_observed(
            model,
            matches,
            *observation,
            "is evaluated with gradients recorded: every forward saves its activations for a backward that never runs",
        );
    }
    for observation in observed(model, ObservationKind::RecordedTeacher) {
        report_observed(
            model,
            matches,
            *observation,
            "runs in evaluation mode, no optimizer has its parameters and its input has no graph: the activations that it \
            saves are for gradients that nobody uses",
        );
    }
}

/// Reports a forward unless its line is reported already.
fn report_observed(model: &Model<'_>, matches: &mut Matches, observation: Observation, cost: &str) {
    let Syntax::Expression(expression) = model.node(observation.at).syntax else { return };
    if !matches.covers(expression) {
        let text = model.source(expression).lines().next().unwrap_or_default();
        matches.add(expression, format!("`{text}` {cost}")).certainty = observation.certainty;
    }
}
