//! Batch normalisation: sizes are modelled, nothing is computed.

use super::workspace::{Model, batch_norm, used};
use super::{CudnnStatus, Opaque, library, tensor};
use crate::api::captured::inert_on_stream;
use crate::boundary::{Out, export};
use crate::device::profile;
use crate::handle::Handle;

/// `CUDNN_BATCHNORM_OPS_BN`: no activation is fused.
const PLAIN: i32 = 0;

/// Elements whose activation a byte of the reserve remembers.
const BITS: u64 = 8;

inert_on_stream! { CudnnStatus, library::stream_of;
    cudnnBatchNormalizationForwardInference
}

export! { CudnnStatus;
    fn cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
        context: Handle, _mode: i32, _operations: i32, x: Handle, _z: Handle, _y: Handle, _parameters: Handle,
        _activation: Handle, bytes: Out<usize>,
    ) {
        library::check(context)?;
        bytes.set(batch_norm(profile(), &tensor::get(x)?) as usize)
    }

    fn cudnnGetBatchNormalizationBackwardExWorkspaceSize(
        context: Handle, _mode: i32, _operations: i32, x: Handle, _y: Handle, _dy: Handle, _dz: Handle, _dx: Handle,
        _parameters: Handle, _activation: Handle, bytes: Out<usize>,
    ) {
        library::check(context)?;
        bytes.set(batch_norm(profile(), &tensor::get(x)?) as usize)
    }

    /// The reserve holds a bit per element of a fused activation, and nothing without a fused activation.
    fn cudnnGetBatchNormalizationTrainingExReserveSpaceSize(
        context: Handle, _mode: i32, operations: i32, _activation: Handle, x: Handle, bytes: Out<usize>,
    ) {
        library::check(context)?;
        let elements = tensor::get(x)?.elements();
        bytes.set(if operations == PLAIN { 0 } else { elements.div_ceil(BITS) as usize })
    }

    fn cudnnBatchNormalizationForwardTrainingEx(
        context: Handle, _mode: i32, _operations: i32, _alpha: Opaque, _beta: Opaque, _x: Handle, _x_data: Opaque,
        _z: Handle, _z_data: Opaque, _y: Handle, _y_data: Opaque, _parameters: Handle, _scale: Opaque, _bias: Opaque,
        _factor: f64, _running_mean: Opaque, _running_variance: Opaque, _epsilon: f64, _mean: Opaque,
        _inverse_variance: Opaque, _activation: Handle, workspace: Opaque, workspace_bytes: usize, _reserve: Opaque,
        _reserve_bytes: usize,
    ) {
        library::note_work(context)?;
        used(Model::BatchNorm, workspace as usize, workspace_bytes as u64);
        Ok(())
    }

    fn cudnnBatchNormalizationBackwardEx(
        context: Handle, _mode: i32, _operations: i32, _alpha_data: Opaque, _beta_data: Opaque, _alpha: Opaque,
        _beta: Opaque, _x: Handle, _x_data: Opaque, _y: Handle, _y_data: Opaque, _dy: Handle, _dy_data: Opaque,
        _dz: Handle, _dz_data: Opaque, _dx: Handle, _dx_data: Opaque, _parameters: Handle, _scale: Opaque,
        _bias: Opaque, _dscale: Opaque, _dbias: Opaque, _epsilon: f64, _mean: Opaque, _inverse_variance: Opaque,
        _activation: Handle, workspace: Opaque, workspace_bytes: usize, _reserve: Opaque, _reserve_bytes: usize,
    ) {
        library::note_work(context)?;
        used(Model::BatchNorm, workspace as usize, workspace_bytes as u64);
        Ok(())
    }
}
