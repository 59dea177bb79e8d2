//! Advice by the activity of the program, as a traceback and the lines beside an error show it.

use causes::CauseId;
use report::Remedy;
use trace::Frame;
use trace::text::{ClueKind, OomKind};

use crate::rules::advice::advice;
use crate::rules::causes::unclear::place_of_advice;
use crate::rules::facts::input::{Facts, Failure};
use crate::rules::facts::known::{Source, text};
use crate::rules::facts::sizes::is_no_size;
use crate::rules::rule::Cause;

/// The activity of a program when memory ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    WakeUp,
    Exchange,
    JoinedPredictions,
    SavedDevice,
    OptimizerStep,
    Load,
    TrainerEvaluation,
    Evaluation,
    Generation,
    Loss,
    Attention,
    Backward,
}

/// A part of a file and the start of a function (behind `*` a part of it), and the phase in which such a frame runs. The first row that holds
/// decides.
const FRAMES: &[(&str, &str, Phase)] = &[
    ("torch_memory_saver", "", Phase::WakeUp),
    ("cumem.py", "", Phase::WakeUp),
    ("", "wake_up", Phase::WakeUp),
    ("", "resume_memory_occupation", Phase::WakeUp),
    ("distributed_c10d.py", "", Phase::Exchange),
    ("", "torch_pad_and_concatenate", Phase::JoinedPredictions),
    ("", "nested_concat", Phase::JoinedPredictions),
    ("", "cuda_deserialize", Phase::SavedDevice),
    ("torch/serialization.py", "deserialize", Phase::SavedDevice),
    ("torch/serialization.py", "default_restore_location", Phase::SavedDevice),
    ("torch/serialization.py", "", Phase::Load),
    ("", "load_state_dict", Phase::Load),
    ("", "from_pretrained", Phase::Load),
    ("", "load_model", Phase::Load),
    ("torch/optim/", "", Phase::OptimizerStep),
    ("", "_multi_tensor_", Phase::OptimizerStep),
    ("", "generate", Phase::Generation),
    ("loss_utils.py", "", Phase::Loss),
    ("", "entropy_from_logits", Phase::Loss),
    ("", "logprobs_from_logits", Phase::Loss),
    ("", "selective_log_softmax", Phase::Loss),
    ("", "get_per_token_logps", Phase::Loss),
    ("transformers/trainer", "evaluat", Phase::TrainerEvaluation),
    ("transformers/trainer", "prediction_step", Phase::TrainerEvaluation),
    ("", "evaluat", Phase::Evaluation),
    ("", "prediction_step", Phase::Evaluation),
    ("", "validat", Phase::Evaluation),
    ("", "cross_entropy", Phase::Loss),
    ("", "*attention", Phase::Attention),
    ("", "*sdpa", Phase::Attention),
    ("torch/autograd/__init__.py", "", Phase::Backward),
];

/// Puts the advice of the phase first, where the cause is about the phase's memory.
pub(super) fn add(cause: &mut Cause, facts: &Facts) {
    let Some(failure) = facts.failure.as_ref() else { return };
    let phase = phase_of(failure);
    if let Some(phase) = phase.filter(|phase| belongs(*phase, cause.finding.rule, failure)) {
        if phase == Phase::WakeUp && failure.kind == OomKind::DeviceCall {
            "the engine that was put to sleep could not map its memory again (wake_up): the device has less free memory than before"
                .clone_into(&mut cause.finding.message);
            let freed = failure.clue(ClueKind::SleepingEngine);
            cause.finding.evidence.extend(freed.map(|line| text("asleep", line.to_owned(), Source::Message)));
        }
        let at =
            if matches!(phase, Phase::WakeUp | Phase::Exchange | Phase::JoinedPredictions) { 0 } else { place(cause) };
        cause.finding.remedies.splice(at..at, advice_of(phase));
    }
    if let Some(remedy) = resumed_batch(failure).filter(|_| cause.finding.rule == CauseId::NeedExceedsDevice) {
        cause.finding.remedies.insert(0, remedy);
    }
}

/// The phase by the frames; by the message alone where the text has no traceback.
fn phase_of(failure: &Failure) -> Option<Phase> {
    let by_frames = FRAMES.iter().find(|row| failure.frames.iter().any(|frame| is_in(frame, row)));
    let is_mapped = || {
        let words = ["cumem_allocator", "torch_memory_saver", "CUresult error"];
        words.iter().any(|words| failure.message.contains(words)).then_some(Phase::WakeUp)
    };
    by_frames
        .map(|row| row.2)
        .or_else(is_mapped)
        .or_else(|| failure.clue(ClueKind::SourceLine).and_then(phase_of_source))
}

/// The phase by the names in the line of source that raised the error.
fn phase_of_source(line: &str) -> Option<Phase> {
    let line = line.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| line.contains(word));
    if has(&["attn", "attention(", "q @ k", "scores = "]) {
        return Some(Phase::Attention);
    }
    has(&["logits.float()", "cross_entropy(", "log_softmax(", "logsumexp("]).then_some(Phase::Loss)
}

/// True if the advice of a phase is about the memory of the cause: the program's own tensors, but for a load onto a device of others.
fn belongs(phase: Phase, cause: CauseId, failure: &Failure) -> bool {
    let is_own = matches!(
        cause,
        CauseId::NeedExceedsDevice | CauseId::OneHugeRequest | CauseId::Unclear | CauseId::Fragmentation
    );
    let is_wrong = failure.requested.is_some_and(|size| is_no_size(size.nearest()));
    let is_joined = cause == CauseId::GrowingCollection && phase == Phase::JoinedPredictions;
    match phase {
        Phase::WakeUp => true,
        Phase::SavedDevice => is_own || cause == CauseId::OtherProcessMemory,
        Phase::Exchange => is_wrong,
        _ => is_joined || (is_own && !is_wrong),
    }
}

/// The place of a phase's advice: behind the advice of the figures.
fn place(cause: &Cause) -> usize {
    match cause.finding.rule {
        CauseId::Fragmentation => 1.min(cause.finding.remedies.len()),
        _ => place_of_advice(cause).min(1),
    }
}

fn is_in(frame: &Frame, row: &(&str, &str, Phase)) -> bool {
    let file = frame.file.replace('\\', "/");
    let function = frame.function.to_lowercase();
    let is_in_function = match row.1.strip_prefix('*') {
        Some(part) => function.contains(part),
        None => function.trim_start_matches('_').starts_with(row.1.trim_start_matches('_')),
    };
    file.contains(row.0) && is_in_function
}

/// The advice about a batch size that a checkpoint raised, from a line of the Trainer's warning: `NAME: 2 (from args) != 24 (from …)`.
fn resumed_batch(failure: &Failure) -> Option<Remedy> {
    let (name, rest) = failure.clue(ClueKind::ResumedBatch)?.split_once(": ")?;
    let (asked, rest) = rest.split_once(" (from args) != ")?;
    let (name, taken) = (name.trim(), rest.split_whitespace().next()?);
    let is_larger = taken.parse::<u64>().ok()? > asked.trim().parse::<u64>().ok()?;
    is_larger.then(|| {
        advice(
            &format!("set {name} in the checkpoint's trainer_state.json: its {taken} is used in place of {asked}"),
            "the text warns that the arguments differ from the checkpoint's; train_batch_size of trainer_state.json is read on resume",
        )
    })
}

fn advice_of(phase: Phase) -> Vec<Remedy> {
    ADVICE.iter().filter(|row| row.0 == phase).map(|(_, remedy, how)| advice(remedy, how)).collect()
}

/// A phase, what helps there, and how; in the order of the advice.
#[rustfmt::skip]
const ADVICE: &[(Phase, &str, &str)] = &[
    (
        Phase::WakeUp,
        "free the trainer's memory before wake_up(), and put the engine to sleep before the trainer allocates",
        "offload parameters and optimizer states, then torch.cuda.empty_cache(); a checkpoint that is resumed while the engine is awake adds its own",
    ),
    (
        Phase::WakeUp,
        "a lower gpu_memory_utilization (mem_fraction_static of SGLang)",
        "the engine maps its whole share again; wake_up(tags=[\"weights\"]) maps the weights first and the KV cache later",
    ),
    (
        Phase::Exchange,
        "call the same collectives in the same order on each rank: the size came from another rank",
        "all_gather_object and its neighbours exchange a length first; ranks that do not match read other bytes as that length",
    ),
    (
        Phase::JoinedPredictions,
        "eval_accumulation_steps=1: the Trainer joins the logits of all batches on the device",
        "it moves them to the CPU after so many batches; preprocess_logits_for_metrics keeps what the metric needs (argmax), prediction_loss_only \
             keeps none",
    ),
    (
        Phase::SavedDevice,
        "map_location=\"cpu\" in torch.load: without it a checkpoint goes to the device that it was saved from",
        "load_from_checkpoint and others pass it on; then move the model to its device",
    ),
    (
        Phase::OptimizerStep,
        "the error is in the optimizer's step: foreach=False, 8-bit states, or fewer trained parameters",
        "Adam makes two tensors as large as the parameters at its first step, and foreach a third for the step; a smaller batch changes none of them",
    ),
    (
        Phase::Load,
        "the error is in loading weights: load onto the CPU, in a smaller dtype",
        "map_location=\"cpu\" in torch.load, torch_dtype=torch.bfloat16 and device_map in from_pretrained; two copies of the weights exist while they load",
    ),
    (
        Phase::TrainerEvaluation,
        "the error is in the Trainer's evaluation: a smaller per_device_eval_batch_size",
        "eval_accumulation_steps moves predictions to the CPU; the Trainer records no gradients there",
    ),
    (
        Phase::Evaluation,
        "the error is in evaluation: torch.no_grad(), a smaller evaluation batch",
        "predictions that are kept go to the CPU",
    ),
    (
        Phase::Generation,
        "the error is in generation: fewer new tokens, a smaller batch",
        "the KV cache grows with both; generate() of transformers records no gradients",
    ),
    (
        Phase::Loss,
        "the error is in the loss: compute it in chunks of the tokens",
        "logits of the whole vocabulary in float32 are often the largest tensor; a fused linear cross-entropy never makes them",
    ),
    (
        Phase::Attention,
        "the error is in attention: scaled_dot_product_attention, or a shorter sequence",
        "attn_implementation=\"sdpa\" or \"flash_attention_2\" of Hugging Face models; a matrix of all pairs grows with the square of the length",
    ),
    (
        Phase::Backward,
        "the error is in backward: activation checkpointing, or a smaller batch",
        "gradient_checkpointing_enable(), torch.utils.checkpoint; activations are largest when backward begins",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phase_of_a_frame_has_advice() {
        for (_, _, phase) in FRAMES {
            assert!(!advice_of(*phase).is_empty(), "{phase:?}");
        }
        assert_eq!(advice_of(Phase::WakeUp).len(), 2);
    }
}
