//! The numbers of a convolution that decide the workspace.

use super::super::super::shape::{FLOAT, Tensor};
use crate::device::Profile;

pub(super) const F32: u64 = 4;

/// The side of the largest share of a matrix product for one block, in the kernels of cuDNN and CUTLASS for tensor cores.
pub(super) const TILE_SIDE: u64 = 128;

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

/// The numbers of a convolution that decide the workspace. Channels are counted in one group.
pub(super) struct Layer<'a> {
    pub(super) tensors: &'a Convolution,
    pub(super) batch: u64,
    pub(super) groups: u64,
    pub(super) inputs: u64,
    pub(super) outputs: u64,
    /// Weights for each pair of channels.
    pub(super) taps: u64,
    pub(super) input_pixels: u64,
    pub(super) output_pixels: u64,
    pub(super) element_bytes: u64,
    pub(super) is_channels_last: bool,
}

impl<'a> Layer<'a> {
    pub(super) fn of(tensors: &'a Convolution) -> Layer<'a> {
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

    pub(super) fn is(&self, direction: Direction) -> bool {
        self.tensors.direction == direction
    }

    pub(super) fn is_tf32(&self) -> bool {
        self.element_bytes == F32
    }

    /// True for the first layer on an image, and for narrow groups.
    pub(super) fn has_few_inputs(&self) -> bool {
        self.inputs <= 4
    }

    /// True for squares of an image without overlap, as in a vision transformer.
    pub(super) fn has_patches(&self) -> bool {
        self.has_few_inputs() && self.taps > 1 && self.input_pixels == self.output_pixels.saturating_mul(self.taps)
    }

    pub(super) fn vectors(&self) -> u64 {
        self.batch.saturating_mul(self.output_pixels)
    }

    pub(super) fn is_volume(&self) -> bool {
        self.tensors.x.dims.len() > 4
    }
}

/// A partial sum of each multiprocessor.
pub(super) fn one_tile_each(gpu: &Profile) -> u64 {
    u64::from(gpu.multiprocessors) * TILE_SIDE * TILE_SIDE * F32
}

pub(super) fn extent(tensor: &Tensor, index: usize) -> u64 {
    tensor.dims.get(index).map_or(1, |&extent| u64::try_from(extent).unwrap_or(0))
}

pub(super) fn pixels(tensor: &Tensor) -> u64 {
    (2..tensor.dims.len()).map(|index| extent(tensor, index)).fold(1, u64::saturating_mul)
}

pub(super) fn multiply<const N: usize>(factors: [u64; N]) -> u64 {
    factors.into_iter().fold(1, u64::saturating_mul)
}
