//! The rules of Note [Convolution workspaces] for Hopper.

use super::super::super::shape::HALF;
use super::layer::{Convolution, Direction, F32, Layer, TILE_SIDE, multiply, one_tile_each};
use crate::device::Profile;

/// Bytes beside copies.
const CONVERSION_BYTES: u64 = 16;

/// Bytes for a convolution.
pub(super) fn workspace(gpu: &Profile, convolution: &Convolution) -> u64 {
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

impl Layer<'_> {
    fn kind(&self) -> Kind {
        if self.groups > 1 && self.inputs == 1 {
            return Kind::Depthwise;
        }
        if self.taps == 1 && self.input_pixels == self.output_pixels {
            return if self.input_pixels == 1 { Kind::InPlace } else { Kind::Pointwise };
        }
        let is_in_place = self.has_few_inputs() && self.reads_few_inputs_in_place()
            || self.is_narrow_shortcut()
            || self.is_backward_of_image();
        if is_in_place { Kind::InPlace } else { Kind::Copied }
    }

    /// True for a narrow layer that drops pixels, in TF32.
    fn is_narrow_shortcut(&self) -> bool {
        self.is_tf32() && self.taps == 1 && self.inputs < 128
    }

    /// True for the gradient of the last layer that makes an image, in TF32 (`vae` and `gan` in
    /// `tests/validation/truth/nvidia-h200`).
    fn is_backward_of_image(&self) -> bool {
        self.is_tf32() && self.is(Direction::BackwardData) && self.groups == 1 && self.outputs <= 4
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
        let is_copied = match self.tensors.direction {
            Direction::Forward => self.copies_forward(),
            Direction::BackwardData => self.copies_backward(),
            Direction::BackwardFilter => return self.pointwise_gradient(gpu, copies),
        };
        if is_copied { copies } else { 0 }
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
        let beside = if elements == 0 { 0 } else { CONVERSION_BYTES };
        multiply([self.groups, elements, self.element_bytes]).saturating_add(beside)
    }

    /// In TF32, forward kernels that double the channels write the result in PyTorch's layout if the sum for each element
    /// is short; so do kernels of 64 channels for small images (`resnet50` in `tests/validation/truth/nvidia-h200`) and
    /// for volumes (`r3d-18` there).
    fn writes_planes(&self) -> bool {
        if !self.is_tf32() || !self.is(Direction::Forward) || self.groups > 1 {
            return false;
        }
        let is_doubling = self.outputs >= self.inputs.saturating_mul(2) && (128..=576).contains(&self.outputs);
        let is_short = self.inputs.saturating_mul(self.taps) <= 1024;
        let is_even = self.outputs == 64 && self.inputs == 64;
        let is_small = self.vectors() <= 128 << 10 && self.output_pixels <= 64 * 64;
        is_doubling && is_short || is_even && (is_small || self.is_volume())
    }

    /// The channels of one group in a copy.
    fn align(&self, channels: u64) -> u64 {
        channels.checked_next_multiple_of(self.vector(channels)).unwrap_or(channels)
    }

    /// The channels that a kernel reads at once.
    fn vector(&self, channels: u64) -> u64 {
        let (is_half, is_backward_data) = (self.tensors.x.data_type == HALF, self.is(Direction::BackwardData));
        if self.groups > 1 {
            let is_wide = channels > 16 && (self.groups > 4 || !self.is(Direction::Forward));
            return if is_wide { 32 } else { 1 };
        }
        match (self.is_tf32(), self.has_patches()) {
            (_, true) if is_backward_data => 1,
            (true, true) => 4,
            (true, false) if self.is(Direction::BackwardFilter) => 4,
            (true, false) => 1,
            (false, false) if self.has_few_inputs() && is_half && !is_backward_data => 4,
            (false, _) => 8,
        }
    }

    /// Partial sums of a weight gradient: as many as multiprocessors are idle otherwise, if each gets a long sum.
    fn partial_sums(&self, gpu: &Profile) -> u64 {
        if !self.is(Direction::BackwardFilter) {
            return 0;
        }
        let columns = self.inputs.saturating_mul(self.taps);
        let breadth = if self.groups == 1 && self.outputs <= TILE_SIDE / 2 { TILE_SIDE / 2 } else { TILE_SIDE };
        let tiles = multiply([self.groups, self.outputs.div_ceil(TILE_SIDE), columns.div_ceil(breadth)]).max(1);
        let summands = if self.is_tf32() { 2048 } else { 8192 };
        let parts = self.vectors() / summands;
        match u64::from(gpu.multiprocessors) / tiles {
            0 if self.is_tf32() => one_tile_each(gpu),
            0 => 0,
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
