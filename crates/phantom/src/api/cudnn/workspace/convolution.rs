//! The workspace of a convolution, by the kernels that cuDNN takes.
//!
//! # Note [Convolution workspaces]
//!
//! Kernels for tensor cores read and write channels-last tensors, so operands in another layout are converted before
//! and results afterwards (profiles of real training show `nchwToNhwcKernel` and `nhwcToNchwKernel`); kernels without
//! tensor cores know both layouts. The peaks in PyTorch's issues 166643 (cuDNN 9.15, A100) and 123533 leave, to their
//! last digit, the input, the filter and the output for the workspace of a forward convolution. A weight gradient is a
//! sum over batch and pixels that is split over the multiprocessors, with fp32 partial results. That is the model of
//! every GPU, [`copies_of_all`], except for Hopper with cuDNN 9.
//!
//! Hopper's kernels are known from 1095 convolutions on an H200 with cuDNN 9.19
//! (`../../../../../evidence/convolutions_h200.json`). The rules of [`hopper`] were found on every other one, and agree
//! with the others: four fifths of the requests to less than a KiB. Most of the rest are partial sums of some MiB.
//! The evidence has fp32 as TF32, bfloat16 and half precision; images of one to 300 pixels a side.

use super::super::library;
use super::super::shape::{BFLOAT16, FLOAT, HALF, Tensor};
use crate::device::Profile;

const F32: u64 = 4;

/// The largest share of a matrix product that one block computes, and the largest number of parts that a long sum is
/// split into, in the kernels of cuDNN and CUTLASS for tensor cores.
const TILE_SIDE: u64 = 128;
const TILE_BYTES: u64 = TILE_SIDE * TILE_SIDE * F32;
const MAX_SPLITS: u64 = 16;

/// Bytes beside copies.
const CONVERSION_BYTES: u64 = 16;

/// The direction of a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Forward,
    BackwardData,
    BackwardFilter,
}

/// Shapes of a convolution: input, filter, output (or gradients).
#[derive(Clone, Debug)]
pub(crate) struct Convolution {
    pub(crate) direction: Direction,
    pub(crate) x: Tensor,
    pub(crate) w: Tensor,
    pub(crate) y: Tensor,
}

/// Bytes for a convolution. See Note [Convolution workspaces].
pub(crate) fn convolution(gpu: &Profile, convolution: &Convolution) -> u64 {
    if has_evidence(gpu) && uses_tensor_cores(gpu, convolution.x.data_type) {
        hopper(gpu, convolution)
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

/// A partial sum of each multiprocessor.
fn one_tile_each(gpu: &Profile) -> u64 {
    u64::from(gpu.multiprocessors) * TILE_BYTES
}

fn hopper(gpu: &Profile, convolution: &Convolution) -> u64 {
    let layer = Layer::of(convolution);
    match layer.kind() {
        Kind::InPlace => 0,
        Kind::Depthwise => layer.depthwise(gpu),
        Kind::Pointwise => layer.pointwise(gpu),
        Kind::Copied => layer.copies().saturating_add(layer.partial_sums(gpu)),
    }
}

/// A kind of kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Works on the operands as they are.
    InPlace,
    /// One channel in each group.
    Depthwise,
    /// A matrix product of each image: one weight for each pair of channels.
    Pointwise,
    /// Works on channels-last copies.
    Copied,
}

/// The numbers of a convolution that decide its workspace. Channels are those of one group.
struct Layer<'a> {
    tensors: &'a Convolution,
    batch: u64,
    groups: u64,
    inputs: u64,
    outputs: u64,
    /// Weights for each pair of channels.
    taps: u64,
    input_pixels: u64,
    output_pixels: u64,
    element_bytes: u64,
    is_channels_last: bool,
}

impl<'a> Layer<'a> {
    fn of(tensors: &'a Convolution) -> Layer<'a> {
        let Convolution { x, w, y, .. } = tensors;
        let inputs = extent(w, 1).max(1);
        let groups = (extent(x, 1) / inputs).max(1);
        Layer {
            tensors,
            batch: extent(x, 0),
            groups,
            inputs,
            outputs: extent(w, 0) / groups,
            taps: pixels(w),
            input_pixels: pixels(x),
            output_pixels: pixels(y),
            element_bytes: if x.data_type == FLOAT { F32 } else { 2 },
            is_channels_last: [x, w, y].into_iter().all(Tensor::is_channels_last),
        }
    }

    fn kind(&self) -> Kind {
        if self.groups > 1 && self.inputs == 1 {
            return Kind::Depthwise;
        }
        if self.taps == 1 && self.input_pixels == self.output_pixels {
            return if self.input_pixels == 1 { Kind::InPlace } else { Kind::Pointwise };
        }
        let is_in_place = self.has_few_inputs() && self.reads_few_inputs_in_place() || self.is_narrow_shortcut();
        if is_in_place { Kind::InPlace } else { Kind::Copied }
    }

    fn is(&self, direction: Direction) -> bool {
        self.tensors.direction == direction
    }

    fn is_tf32(&self) -> bool {
        self.element_bytes == F32
    }

    /// True for the first layer on an image, and for narrow groups.
    fn has_few_inputs(&self) -> bool {
        self.inputs <= 4
    }

    /// True for squares of an image that do not overlap, as in a vision transformer.
    fn has_patches(&self) -> bool {
        self.has_few_inputs() && self.taps > 1 && self.input_pixels == self.output_pixels.saturating_mul(self.taps)
    }

    /// True for a narrow layer that drops pixels, in TF32.
    fn is_narrow_shortcut(&self) -> bool {
        self.is_tf32() && self.taps == 1 && self.inputs < 128
    }

    fn reads_few_inputs_in_place(&self) -> bool {
        let is_small = self.groups == 1 && self.taps <= 16;
        if self.is_tf32() {
            return is_small || self.is(Direction::BackwardData);
        }
        is_small
            && (self.is(Direction::Forward)
                || self.is(Direction::BackwardFilter) && self.is_channels_last && !self.has_patches())
    }

    /// Only the channels-last weight gradient takes memory: in half precision for up to eight sums of each image, in TF32
    /// as a grouped convolution of four channels (`convnext-tiny` in `tests/validation/truth/nvidia-h200`).
    fn depthwise(&self, gpu: &Profile) -> u64 {
        if !self.is(Direction::BackwardFilter) || !self.is_channels_last {
            return 0;
        }
        if self.is_tf32() {
            let pixels = self.input_pixels.saturating_add(self.output_pixels);
            return multiply([self.batch, self.groups, 4, pixels, F32]).saturating_add(one_tile_each(gpu));
        }
        let is_strided = self.input_pixels != self.output_pixels;
        if is_strided { 0 } else { multiply([self.batch, 8, self.groups.next_multiple_of(32), self.taps, F32]) }
    }

    fn pointwise(&self, gpu: &Profile) -> u64 {
        if self.is_channels_last {
            return self.partial_sums(gpu);
        }
        let copies = self.copies();
        match self.tensors.direction {
            Direction::Forward => {
                if self.copies_forward() {
                    copies
                } else {
                    0
                }
            }
            Direction::BackwardData => {
                if self.copies_backward() {
                    copies
                } else {
                    0
                }
            }
            Direction::BackwardFilter => self.pointwise_gradient(gpu, copies),
        }
    }

    /// The weight gradient of each image, to be added up, or the sum in one product of copies.
    fn pointwise_gradient(&self, gpu: &Profile, copies: u64) -> u64 {
        let gradients = multiply([self.batch, self.tensors.w.elements(), F32]);
        if !self.is_tf32() {
            return gradients.min(copies);
        }
        let is_large = self.tensors.w.elements() >= 512 << 10 || gradients / 7 > copies / 2;
        if is_large { copies.saturating_add(self.partial_sums(gpu)) } else { gradients }
    }

    /// An odd number of pixels is not aligned for vector loads: then copies pay for a large filter.
    fn copies_forward(&self) -> bool {
        self.input_pixels % 2 == 1 && self.tensors.w.elements() >= 96 << 10
    }

    fn copies_backward(&self) -> bool {
        self.input_pixels <= 64 && self.tensors.w.elements() >= 256 << 10
    }

    /// Copies of the operands that lie in another layout, or that lack channels for a whole vector.
    fn copies(&self) -> u64 {
        let Convolution { x, w, y, .. } = self.tensors;
        let (inputs, outputs) = (self.align(self.inputs), self.align(self.outputs));
        let (pads_inputs, pads_outputs) = (inputs != self.inputs, outputs != self.outputs);
        let writes_planes = self.writes_planes();
        let parts = [
            (pads_inputs || !x.is_channels_last(), [self.batch, self.input_pixels, inputs]),
            (pads_outputs || !y.is_channels_last() && !writes_planes, [self.batch, self.output_pixels, outputs]),
            (pads_inputs || pads_outputs || !w.is_channels_last() || writes_planes, [outputs, self.taps, inputs]),
        ];
        let copied = parts.into_iter().filter(|(is_copied, _)| *is_copied);
        let elements = copied.map(|(_, extents)| multiply(extents)).fold(0, u64::saturating_add);
        if elements == 0 {
            0
        } else {
            multiply([self.groups, elements, self.element_bytes]).saturating_add(CONVERSION_BYTES)
        }
    }

    /// In TF32, forward kernels that double the channels write the result in PyTorch's layout, if the sum for each element
    /// is short or pixels are dropped; so do kernels of 64 channels (`r3d-18` in `tests/validation/truth/nvidia-h200`).
    fn writes_planes(&self) -> bool {
        if !self.is_tf32() || !self.is(Direction::Forward) || self.groups > 1 {
            return false;
        }
        let is_doubling = self.outputs >= self.inputs.saturating_mul(2) && (128..=576).contains(&self.outputs);
        let is_short = self.inputs.saturating_mul(self.taps) <= 1024;
        let is_even = self.outputs == 64 && self.inputs == 64;
        is_doubling && (is_short || self.drops_pixels()) || is_even && (self.vectors() <= 128 << 10 || self.is_volume())
    }

    fn drops_pixels(&self) -> bool {
        self.input_pixels >= self.output_pixels.saturating_mul(3)
    }

    fn is_volume(&self) -> bool {
        self.tensors.x.dims.len() > 4
    }

    /// The channels of one group in a copy.
    fn align(&self, channels: u64) -> u64 {
        channels.checked_next_multiple_of(self.vector(channels)).unwrap_or(channels)
    }

    /// The channels that a kernel reads at once.
    fn vector(&self, channels: u64) -> u64 {
        let is_backward_data = self.is(Direction::BackwardData);
        if self.groups > 1 {
            let is_wide = channels > 16 && (self.groups > 4 || !self.is(Direction::Forward));
            return if is_wide { 32 } else { 1 };
        }
        match (self.is_tf32(), self.has_patches()) {
            (true, false) => {
                if self.is(Direction::BackwardFilter) {
                    4
                } else {
                    1
                }
            }
            (_, true) if is_backward_data => 1,
            (true, true) => 4,
            (false, false) if self.has_few_inputs() && self.is_channels_last && !is_backward_data => 4,
            (false, _) => 8,
        }
    }

    fn vectors(&self) -> u64 {
        self.batch.saturating_mul(self.output_pixels)
    }

    /// Partial sums of a weight gradient: as many as multiprocessors are idle otherwise, if each gets a long sum.
    fn partial_sums(&self, gpu: &Profile) -> u64 {
        if !self.is(Direction::BackwardFilter) {
            return 0;
        }
        let columns = self.inputs.saturating_mul(self.taps);
        let tiles = multiply([self.groups, self.outputs.div_ceil(TILE_SIDE), columns.div_ceil(TILE_SIDE)]).max(1);
        let summands = if self.is_tf32() { 2048 } else { 8192 };
        let parts = self.vectors() / summands;
        match u64::from(gpu.multiprocessors) / tiles {
            0 => {
                if self.is_tf32() {
                    one_tile_each(gpu)
                } else {
                    0
                }
            }
            idle if idle.min(parts) < 2 => 0,
            idle => multiply([idle.min(parts), self.sum_bytes(columns)]),
        }
    }

    /// One partial sum: groups are rounded up to half a tile each.
    fn sum_bytes(&self, columns: u64) -> u64 {
        let half = TILE_SIDE / 2;
        if self.groups == 1 {
            return multiply([self.outputs, columns, F32]);
        }
        multiply([self.groups, self.outputs.div_ceil(half) * half, columns.div_ceil(half).saturating_mul(half), F32])
    }
}

fn extent(tensor: &Tensor, index: usize) -> u64 {
    tensor.dims.get(index).map_or(1, |&extent| u64::try_from(extent).unwrap_or(0))
}

fn pixels(tensor: &Tensor) -> u64 {
    (2..tensor.dims.len()).map(|index| extent(tensor, index)).fold(1, u64::saturating_mul)
}

fn multiply<const N: usize>(factors: [u64; N]) -> u64 {
    factors.into_iter().fold(1, u64::saturating_mul)
}

#[cfg(test)]
mod tests;
