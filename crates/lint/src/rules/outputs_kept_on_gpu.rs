//! Outputs of an evaluation collected on the GPU.

use crate::edits;
use crate::finding::{Applicability, MemoryEffect};
use crate::interpreter::observed;
use crate::rule::{Matches, Rule};
use crate::semantics::{Mode, Model, ObservationKind};
use causes::CauseId;
use report::RuleId;
use ruff_text_size::Ranged;

pub(super) const RULE: Rule = Rule {
    id: RuleId("outputs-kept-on-gpu"),
    effect: MemoryEffect::Style,
    summary: "outputs of an evaluation collected on the GPU",
    help: "move each output to the host: `outputs.append(out.cpu())`",
    cause: Some(CauseId::GrowingCollection),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls().iter().filter(|call| call.is_method("append")) {
        let (Some((list, _)), [kept]) = (call.method(), &*call.syntax.arguments.args) else { continue };
        let Some(around) = model.loops(call.region).next().filter(|&id| model.is_over_batches(id)) else { continue };
        let is_output = model
            .origins(kept)
            .into_iter()
            .chain([kept])
            .any(|it| model.call(it).is_some_and(|call| model.is_forward(call)));
        if is_output && model.mode(call.region) == Mode::Off && model.outlives_step(list, around) {
            let message = format!("`{}` keeps the outputs of all batches on the GPU", model.source(list));
            let end = kept.range().end().to_usize();
            matches.add(kept, message).fix = Some(edits::insert(end, ".cpu()", Applicability::Unsafe));
        }
    }
    for observation in observed(model, ObservationKind::OutputsOnGpu) {
        let Some((_, statement)) = model.statement(observation.at) else { continue };
        if !matches.covers(statement) {
            let text = model.source_at(observation.at);
            matches.add(statement, format!("`{text}` keeps the outputs of all batches on the GPU")).certainty =
                observation.certainty;
        }
    }
}
