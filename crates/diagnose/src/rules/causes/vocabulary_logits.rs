//! `vocabulary-logits`: scores over a large vocabulary, and their copies in the loss.
//!
//! Role request, order 104.
//!
//! Backward has no Python stack, so a request of backward counts if the live tensors of its size come from the loss.

use causes::CauseId;
use report::render::grouped;
use trace::{Bytes, Frame, Moment, Phase, StackId};

use crate::measure::growth::stays;
use crate::measure::life::Life;
use crate::rules::advice::advice;
use crate::rules::facts::input::Facts;
use crate::rules::families::operation::Failed;
use crate::rules::rule::{Cause, Check, Rule};

/// A loss over a smaller number of classes is not large.
const MIN_CLASSES: u64 = 8192;
/// A linear layer that makes less may be a layer inside the model.
const MIN_WORDS: u64 = 30_000;
const LOSSES: [&str; 3] = ["cross_entropy", "log_softmax", "nll_loss"];

pub(super) const RULE: Rule = Rule { cause: CauseId::VocabularyLogits, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    let failed = Failed::of(facts)?;
    let operation = failed.operation;
    let shapes = operation.shapes.iter().chain([&operation.result, &operation.input]);
    let classes =
        shapes.filter_map(|shape| shape.last()).copied().max().unwrap_or_default().max(operation.out_features);
    let is_loss = failed.calls(&LOSSES) || LOSSES.iter().any(|name| operation.text.contains(name));
    let is_head =
        classes >= MIN_WORDS && (operation.out_features > 0 || comes_from(facts, failed.requested, &["linear"]));
    let is_here = classes >= MIN_CLASSES && (is_loss || is_head || failed.mentions("softmax"));
    let is_behind = is_in_backward(facts) && comes_from(facts, failed.requested, &LOSSES);
    if !is_here && !is_behind {
        return None;
    }
    let of =
        if classes >= MIN_CLASSES { format!(" over {} classes", grouped(classes)) } else { " of the loss".to_owned() };
    failed.cause(
        RULE.cause,
        &format!("logits{of} take"),
        advice(
            "compute the loss in chunks",
            "apply the head and cross_entropy to a part of the tokens at a time, or a fused linear cross-entropy: the logits of all tokens \
             are then never alive at once; compute logits only where a label is",
        ),
    )
}

/// True if a live tensor of about the size of the request was made by one of PyTorch's functions `names`, or by a linear layer.
fn comes_from(facts: &Facts, requested: Bytes, names: &[&str]) -> bool {
    let Some((view, moment)) = facts.view.zip(facts.moment()) else { return false };
    let is_theirs = |frame: &Frame| {
        let is_linear = names.contains(&"linear") && frame.file.ends_with("nn/modules/linear.py");
        is_linear || names.contains(&frame.function.as_str())
    };
    let is_made = |stack: StackId| view.frames_of(stack).any(is_theirs);
    let mut live = view.live_after(moment).filter(|(life, _)| life.block().0.saturating_mul(4) >= requested.0);
    live.any(|(life, contents)| !stays(contents) && is_made(life.stack))
}

fn is_in_backward(facts: &Facts) -> bool {
    let at = facts.view.zip(facts.moment().and_then(Moment::event_before));
    at.and_then(|(view, event)| view.timeline.phase(event)) == Some(Phase::Backward)
}
