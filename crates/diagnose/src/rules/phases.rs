//! The advice that a traceback adds to the figures of its message: what the program was doing.

use causes::CauseId;
use report::Remedy;
use trace::Frame;

use super::input::Facts;
use super::rule::Cause;
use super::shared::advice;

/// What a program was doing when memory ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    OptimizerStep,
    Load,
    Evaluation,
    Loss,
    Attention,
    Backward,
}

/// The end of a file and the start of a function, and the phase in which such a frame runs. The first row that holds decides.
const FRAMES: &[(&str, &str, Phase)] = &[
    ("torch/serialization.py", "", Phase::Load),
    ("", "load_state_dict", Phase::Load),
    ("", "from_pretrained", Phase::Load),
    ("", "load_model", Phase::Load),
    ("torch/optim/", "", Phase::OptimizerStep),
    ("", "_multi_tensor_", Phase::OptimizerStep),
    ("", "evaluat", Phase::Evaluation),
    ("", "prediction_step", Phase::Evaluation),
    ("", "validat", Phase::Evaluation),
    ("", "generate", Phase::Evaluation),
    ("", "cross_entropy", Phase::Loss),
    ("", "attention", Phase::Attention),
    ("", "sdpa", Phase::Attention),
    ("torch/autograd/__init__.py", "", Phase::Backward),
];

/// Puts the advice of the phase first, where the program's own tensors are the cause.
pub(super) fn add(cause: &mut Cause, facts: &Facts) {
    let is_own = matches!(cause.finding.rule, CauseId::NeedExceedsDevice | CauseId::OneHugeRequest | CauseId::Unclear);
    let Some(failure) = facts.failure.as_ref().filter(|_| is_own) else { return };
    let phase = FRAMES.iter().find(|row| failure.frames.iter().any(|frame| is_in(frame, row)));
    let at = usize::from(cause.finding.rule == CauseId::Unclear).min(cause.finding.remedies.len());
    if let Some((.., phase)) = phase {
        cause.finding.remedies.insert(at, advice_of(*phase));
    }
}

fn is_in(frame: &Frame, row: &(&str, &str, Phase)) -> bool {
    let file = frame.file.replace('\\', "/");
    file.contains(row.0)
        && frame.function.to_lowercase().trim_start_matches('_').starts_with(row.1.trim_start_matches('_'))
}

fn advice_of(phase: Phase) -> Remedy {
    match phase {
        Phase::OptimizerStep => advice(
            "the error is in the optimizer's step: foreach=False, 8-bit states, or fewer trained parameters",
            "Adam makes two tensors as large as the parameters at its first step, and foreach a third for the step; a smaller batch changes none of them",
        ),
        Phase::Load => advice(
            "the error is in loading weights: load onto the CPU, in a smaller dtype",
            "map_location=\"cpu\" in torch.load, torch_dtype=torch.bfloat16 and device_map in from_pretrained; two copies of the weights exist while they load",
        ),
        Phase::Evaluation => advice(
            "the error is in evaluation: torch.no_grad(), a smaller evaluation batch",
            "per_device_eval_batch_size and eval_accumulation_steps of Trainer; predictions that are kept go to the CPU",
        ),
        Phase::Loss => advice(
            "the error is in the loss: compute it in chunks of the tokens",
            "logits of the whole vocabulary in float32 are often the largest tensor; a fused linear cross-entropy never makes them",
        ),
        Phase::Attention => advice(
            "the error is in attention: scaled_dot_product_attention, or a shorter sequence",
            "attn_implementation=\"sdpa\" or \"flash_attention_2\" of Hugging Face models; a matrix of all pairs grows with the square of the length",
        ),
        Phase::Backward => advice(
            "the error is in backward: activation checkpointing, or a smaller batch",
            "gradient_checkpointing_enable(), torch.utils.checkpoint; activations are largest when backward begins",
        ),
    }
}
