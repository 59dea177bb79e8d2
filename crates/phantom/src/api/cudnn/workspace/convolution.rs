//! The workspace of a convolution.
//!
//! # Note [Convolution workspaces]
//!
//! Kernels for tensor cores read and write channels-last tensors, so operands in another layout are converted before
//! and results afterwards (profiles of real training show `nchwToNhwcKernel` and `nhwcToNchwKernel`); kernels without
//! tensor cores know both layouts. The peaks in PyTorch's issues 166643 (cuDNN 9.15, A100) and 123533 leave, to their
//! last digit, the input, the filter and the output for the workspace of a forward convolution. A weight gradient is a
//! sum over batch and pixels that is split over the multiprocessors, with fp32 partial results. [`copies_of_all`] is the
//! model of every GPU but Hopper with cuDNN 9.
//!
//! The rules for Hopper (`hopper.rs`) come from 1095 convolutions on an H200 with cuDNN 9.19, forward and for both
//! gradients: fp32 as TF32, bfloat16, and half precision with channels last (`evidence/convolutions_h200.json` of this
//! crate). Most were found on every other convolution and held in the rest to the same degree; the last ones use both
//! halves, and the recorded programs that their comments name. Four fifths of the requests are right to less than a KiB,
//! and the test of the evidence holds them there. Most of the
//! other requests have partial sums of some MiB more or less; the largest errors are single shapes for which cuDNN's
//! heuristics took another kernel than for their neighbours, up to 320 MiB.

mod hopper;
mod layer;

use super::super::library;
use super::super::shape::{BFLOAT16, FLOAT, HALF, Tensor};
use crate::device::Profile;
pub(crate) use layer::{Convolution, Direction};
use layer::{F32, Layer, extent, multiply, one_tile_each};

/// The largest number of parts that a long sum is split into.
const MAX_SPLITS: u64 = 16;

/// Bytes for a convolution. See Note [Convolution workspaces].
pub(crate) fn convolution(gpu: &Profile, convolution: &Convolution) -> u64 {
    if has_evidence(gpu) && uses_tensor_cores(gpu, convolution.x.data_type) {
        hopper::workspace(gpu, convolution)
    } else {
        copies_of_all(gpu, convolution)
    }
}

fn has_evidence(gpu: &Profile) -> bool {
    gpu.compute_capability.0 == 9 && library::major_version() == 9
}

/// True if PyTorch's `allow_tf32` decides the kernel.
pub(crate) fn has_choice_of_precision(gpu: &Profile, convolution: &Convolution) -> bool {
    has_evidence(gpu) && convolution.x.data_type == FLOAT
}

/// Bytes for an fp32 convolution without TF32: a backward through 3x3 weights multiplies transformed squares of 6x6
/// pixels (Winograd). The record is `conv-plain-no-tf32` in `tests/validation/truth/nvidia-h200`.
pub(crate) fn convolution_in_fp32(gpu: &Profile, convolution: &Convolution) -> u64 {
    let layer = Layer::of(convolution);
    let is_square = convolution.w.dims.get(2..) == Some(&[3, 3]) && layer.input_pixels == layer.output_pixels;
    if layer.is(Direction::Forward) || layer.groups > 1 || !is_square {
        return partial_sums(gpu, convolution);
    }
    let squares = [2, 3].map(|index| extent(&convolution.y, index).div_ceil(4));
    let vectors = multiply([layer.batch, squares[0], squares[1]]);
    let channels = layer.inputs.saturating_add(layer.outputs);
    let values = vectors.saturating_mul(channels).saturating_add(multiply([layer.inputs, layer.outputs]));
    multiply([values, 6 * 6, F32])
}

/// Half precision since compute capability 7.0, and fp32 as TF32, which cuDNN uses by default, since 8.0.
fn uses_tensor_cores(gpu: &Profile, data_type: i32) -> bool {
    let (major, _) = gpu.compute_capability;
    match data_type {
        HALF => major >= 7,
        BFLOAT16 | FLOAT => major >= 8,
        _ => false,
    }
}

/// A copy of each operand in another layout, and partial sums.
fn copies_of_all(gpu: &Profile, convolution: &Convolution) -> u64 {
    let Convolution { x, w, y, .. } = convolution;
    let is_copied = |tensor: &&Tensor| uses_tensor_cores(gpu, x.data_type) && !tensor.is_channels_last();
    let copies = [x, w, y].into_iter().filter(is_copied).map(Tensor::bytes);
    copies.fold(partial_sums(gpu, convolution), u64::saturating_add)
}

fn partial_sums(gpu: &Profile, Convolution { direction, w, .. }: &Convolution) -> u64 {
    match direction {
        Direction::BackwardFilter => multiply([w.elements(), F32, MAX_SPLITS]).min(one_tile_each(gpu)),
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
