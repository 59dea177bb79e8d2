//! The memory that cuDNN's kernels need for themselves: every model of this library, in one place.
//!
//! # Note [cuDNN workspaces]
//!
//! cuDNN chooses its algorithms by unpublished heuristics, so the figures here are models: simple, bounded by a small
//! multiple of the operands, growing with each operand. Each used model is named in the journal ([`note`]), with the
//! largest figure based on it, so that a reader can tell the effect of an error. Exact figures are elsewhere: the size
//! of RNN weights (`rnn/layout.rs`), and the fp32 accumulator of the attention backward, which cudnn-frontend requests
//! by itself, inside PyTorch. Convolutions and RNNs have notes of their own (`convolution.rs`, `recurrence.rs`).

mod convolution;
mod recurrence;

use super::shape::Tensor;
use crate::device::Profile;
use crate::journal;

pub(crate) use convolution::{Convolution, Direction, convolution, convolution_in_fp32, has_choice_of_precision};
pub(crate) use recurrence::Recurrence;

const F32: u64 = 4;

/// Bytes of a random generator for each thread. An H200 with cuDNN 9.19 takes 6.1875 MiB for its 132 x 2048 threads
/// (`tests/validation/truth/nvidia-h200`, `gru` and `lstm-bf16`).
const GENERATOR_BYTES: u64 = 24;

/// A model, by its name in the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Model {
    Convolution,
    Attention,
    OtherGraph,
    BatchNorm,
    Rnn,
    Ctc,
    Dropout,
}

impl Model {
    fn id(self) -> &'static str {
        match self {
            Model::Convolution => "cudnn-convolution-workspace",
            Model::Attention => "cudnn-attention-workspace",
            Model::OtherGraph => "cudnn-graph-workspace",
            Model::BatchNorm => "cudnn-batch-norm-workspace",
            Model::Rnn => "cudnn-rnn-workspace",
            Model::Ctc => "cudnn-ctc-workspace",
            Model::Dropout => "cudnn-dropout-state",
        }
    }

    fn text(self) -> &'static str {
        match self {
            Model::Convolution => {
                "cuDNN picks its convolution algorithms and their workspaces itself; modelled as channels-last copies \
                 of the operands where tensor cores need them, and fp32 partial sums for weight gradients"
            }
            Model::Attention => {
                "cuDNN picks its attention kernels and their workspaces itself; modelled as none beyond what PyTorch \
                 asks for by itself, and as the score gradients where backward is deterministic or has a bias gradient"
            }
            Model::OtherGraph => "cuDNN picks the workspace of a fused graph itself; modelled as none",
            Model::BatchNorm => {
                "cuDNN picks its batch-norm kernels and their workspaces itself; modelled as fp32 partial sums per \
                 channel and multiprocessor for channels-last input, and none otherwise"
            }
            Model::Rnn => {
                "cuDNN picks its RNN algorithm, workspace and reserve itself; modelled as what cuDNN 9.19 took on an \
                 H200: the activations that backpropagation through time needs"
            }
            Model::Ctc => "cuDNN picks its CTC workspace itself; modelled as the two lattices and the probabilities",
            Model::Dropout => {
                "cuDNN picks the size of its dropout state itself; modelled as one generator of 24 bytes per thread \
                 that the device can hold"
            }
        }
    }
}

/// Says in the journal that `bytes` rest on a model.
pub(crate) fn note(model: Model, bytes: u64) {
    journal::record_assumption(model.id(), model.text(), bytes);
}

/// Says in the journal that a library call was given the memory at `address`, whose size a model had chosen.
pub(crate) fn used(model: Model, address: usize, bytes: u64) {
    note(model, bytes);
    if address != 0 {
        journal::record_workspace("cudnn", address as u64, bytes);
    }
}

/// Bytes for an attention backward that keeps the gradients of the scores, `[batch, heads, queries, keys]`, in 16 bit,
/// queries and keys rounded up to 64 (cudnn-frontend 1.18, `required_dp_workspace_bytes` in
/// `node/scaled_dot_product_flash_attention.h`).
pub(crate) fn score_gradients(scores: &[i64]) -> u64 {
    let extent = |index: usize| scores.get(index).map_or(1, |&extent| u64::try_from(extent).unwrap_or(0));
    let rounded = |index: usize| extent(index).next_multiple_of(64);
    [extent(0), extent(1), rounded(2), rounded(3), 2].into_iter().fold(1, u64::saturating_mul)
}

/// Bytes for a batch norm, forward or backward: two sums per channel and multiprocessor for channels-last input.
pub(crate) fn batch_norm(gpu: &Profile, x: &Tensor) -> u64 {
    if x.strides.get(1) != Some(&1) {
        return 0;
    }
    let channels = x.dims.get(1).map_or(0, |&channels| u64::try_from(channels).unwrap_or(0));
    channels.saturating_mul(2 * F32 * u64::from(gpu.multiprocessors))
}

/// Bytes for a CTC loss: alphas and betas over `2 * longest label + 1` states, and the normalised probabilities,
/// all fp32, for `[time, batch, classes]`.
pub(crate) fn ctc(probabilities: &Tensor, longest_label: u64) -> u64 {
    let extent = |index: usize| probabilities.dims.get(index).map_or(0, |&extent| u64::try_from(extent).unwrap_or(0));
    let states = longest_label.saturating_mul(2).saturating_add(1);
    let lattices = [extent(0), extent(1), states, 2 * F32].into_iter().fold(1, u64::saturating_mul);
    lattices.saturating_add(probabilities.elements().saturating_mul(F32))
}

/// Bytes of the random state for dropout: a generator per resident thread of the device.
pub(crate) fn dropout_state(gpu: &Profile) -> u64 {
    u64::from(gpu.multiprocessors) * u64::from(gpu.threads_per_multiprocessor) * GENERATOR_BYTES
}

#[cfg(test)]
mod tests;
