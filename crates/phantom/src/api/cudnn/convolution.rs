//! The convolution functions from before the graph API: PyTorch calls them with `TORCH_CUDNN_V8_API_DISABLED=1`.
//!
//! Each kind of convolution has two algorithms, as in the graph API: number 1 with the modelled workspace and number 0
//! without, for programs in which the workspace does not fit.

use super::shape::Tensor;
use super::workspace::{Convolution, Direction, Model, convolution, used};
use super::{Answer, CudnnStatus, Opaque, count, create, destroy, known, library, tensor};
use crate::boundary::{In, Out, Status, export};
use crate::device::profile;
use crate::handle::{Handle, Table};

/// `IMPLICIT_GEMM`, or `ALGO_0` of the backward kinds.
const WITHOUT_WORKSPACE: i32 = 0;
/// `IMPLICIT_PRECOMP_GEMM`, or `ALGO_1` of the backward kinds.
const WITH_WORKSPACE: i32 = 1;
/// `CUDNN_DETERMINISTIC`.
const DETERMINISTIC: i32 = 1;
/// cuDNN's time for an algorithm without a measurement.
const NOT_MEASURED: f32 = -1.0;

/// `cudnnConvolution{Fwd,BwdData,BwdFilter}AlgoPerf_t`: three structs with equal fields in `cudnn_cnn.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct AlgorithmPerf {
    algorithm: i32,
    status: i32,
    time: f32,
    memory: usize,
    determinism: i32,
    math_type: i32,
    reserved: [i32; 3],
}

/// The stored part of a convolution descriptor: the shapes of the tensors hold all inputs of the model.
#[derive(Default)]
struct ConvolutionSettings {
    math_type: i32,
}

static CONVOLUTIONS: Table<ConvolutionSettings> = Table::new();

/// The descriptors of a call, looked up.
struct Query {
    math_type: i32,
    convolution: Convolution,
}

impl Query {
    fn new(context: Handle, settings: Handle, direction: Direction, [x, w, y]: [Answer<Tensor>; 3]) -> Answer<Query> {
        library::check(context)?;
        let math_type = known(&CONVOLUTIONS, settings, |settings| settings.math_type)?;
        Ok(Query { math_type, convolution: Convolution { direction, x: x?, w: w?, y: y? } })
    }

    fn bytes(&self, algorithm: i32) -> u64 {
        if algorithm == WITHOUT_WORKSPACE { 0 } else { convolution(profile(), &self.convolution) }
    }

    fn perf(&self, algorithm: i32) -> AlgorithmPerf {
        AlgorithmPerf {
            algorithm,
            status: CudnnStatus::SUCCESS.0,
            time: NOT_MEASURED,
            memory: self.bytes(algorithm) as usize,
            determinism: DETERMINISTIC,
            math_type: self.math_type,
            reserved: [0; 3],
        }
    }

    fn answer(&self, requested: i32, returned: Out<i32>, results: Out<AlgorithmPerf>) -> Answer {
        if requested < 1 || results.is_null() {
            return Err(CudnnStatus::INVALID);
        }
        let offered = [WITH_WORKSPACE, WITHOUT_WORKSPACE];
        let room = count(requested)?;
        let written = offered.len().min(room);
        results.array(room).write(offered[..written].iter().map(|&algorithm| self.perf(algorithm)))?;
        returned.set(written as i32)
    }

    fn execute(&self, algorithm: i32, workspace: Opaque, available: usize) -> Answer {
        let bytes = self.bytes(algorithm);
        if (available as u64) < bytes {
            return Err(CudnnStatus::INVALID);
        }
        used(Model::Convolution, workspace as usize, bytes);
        Ok(())
    }
}

fn forward(context: Handle, settings: Handle, x: Handle, w: Handle, y: Handle) -> Answer<Query> {
    Query::new(context, settings, Direction::Forward, [tensor::get(x), tensor::filter(w), tensor::get(y)])
}

fn backward_data(context: Handle, settings: Handle, x: Handle, w: Handle, y: Handle) -> Answer<Query> {
    Query::new(context, settings, Direction::BackwardData, [tensor::get(x), tensor::filter(w), tensor::get(y)])
}

fn backward_filter(context: Handle, settings: Handle, x: Handle, w: Handle, y: Handle) -> Answer<Query> {
    Query::new(context, settings, Direction::BackwardFilter, [tensor::get(x), tensor::filter(w), tensor::get(y)])
}

export! { CudnnStatus;
    fn cudnnCreateConvolutionDescriptor(out: Out<Handle>) {
        create(&CONVOLUTIONS, ConvolutionSettings::default(), out)
    }

    fn cudnnDestroyConvolutionDescriptor(handle: Handle) {
        destroy(&CONVOLUTIONS, handle)
    }

    fn cudnnSetConvolutionNdDescriptor(
        handle: Handle, length: i32, _pads: In<i32>, _strides: In<i32>, _dilations: In<i32>, _mode: i32, _compute: i32,
    ) {
        count(length)?;
        known(&CONVOLUTIONS, handle, |_| ())
    }

    fn cudnnSetConvolutionGroupCount(handle: Handle, groups: i32) {
        if groups < 1 {
            return Err(CudnnStatus::INVALID);
        }
        known(&CONVOLUTIONS, handle, |_| ())
    }

    fn cudnnSetConvolutionMathType(handle: Handle, math_type: i32) {
        known(&CONVOLUTIONS, handle, |settings| settings.math_type = math_type)
    }

    fn cudnnGetConvolutionForwardAlgorithm_v7(
        context: Handle, x: Handle, w: Handle, settings: Handle, y: Handle,
        requested: i32, returned: Out<i32>, results: Out<AlgorithmPerf>,
    ) {
        forward(context, settings, x, w, y)?.answer(requested, returned, results)
    }

    fn cudnnGetConvolutionBackwardDataAlgorithm_v7(
        context: Handle, w: Handle, dy: Handle, settings: Handle, dx: Handle,
        requested: i32, returned: Out<i32>, results: Out<AlgorithmPerf>,
    ) {
        backward_data(context, settings, dx, w, dy)?.answer(requested, returned, results)
    }

    fn cudnnGetConvolutionBackwardFilterAlgorithm_v7(
        context: Handle, x: Handle, dy: Handle, settings: Handle, dw: Handle,
        requested: i32, returned: Out<i32>, results: Out<AlgorithmPerf>,
    ) {
        backward_filter(context, settings, x, dw, dy)?.answer(requested, returned, results)
    }

    fn cudnnFindConvolutionForwardAlgorithmEx(
        context: Handle, x: Handle, _x_data: Opaque, w: Handle, _w_data: Opaque, settings: Handle, y: Handle,
        _y_data: Opaque, requested: i32, returned: Out<i32>, results: Out<AlgorithmPerf>, _workspace: Opaque,
        _workspace_bytes: usize,
    ) {
        forward(context, settings, x, w, y)?.answer(requested, returned, results)
    }

    fn cudnnFindConvolutionBackwardDataAlgorithmEx(
        context: Handle, w: Handle, _w_data: Opaque, dy: Handle, _dy_data: Opaque, settings: Handle, dx: Handle,
        _dx_data: Opaque, requested: i32, returned: Out<i32>, results: Out<AlgorithmPerf>, _workspace: Opaque,
        _workspace_bytes: usize,
    ) {
        backward_data(context, settings, dx, w, dy)?.answer(requested, returned, results)
    }

    fn cudnnFindConvolutionBackwardFilterAlgorithmEx(
        context: Handle, x: Handle, _x_data: Opaque, dy: Handle, _dy_data: Opaque, settings: Handle, dw: Handle,
        _dw_data: Opaque, requested: i32, returned: Out<i32>, results: Out<AlgorithmPerf>, _workspace: Opaque,
        _workspace_bytes: usize,
    ) {
        backward_filter(context, settings, x, dw, dy)?.answer(requested, returned, results)
    }

    fn cudnnGetConvolutionForwardWorkspaceSize(
        context: Handle, x: Handle, w: Handle, settings: Handle, y: Handle, algorithm: i32, bytes: Out<usize>,
    ) {
        bytes.set(forward(context, settings, x, w, y)?.bytes(algorithm) as usize)
    }

    fn cudnnGetConvolutionBackwardDataWorkspaceSize(
        context: Handle, w: Handle, dy: Handle, settings: Handle, dx: Handle, algorithm: i32, bytes: Out<usize>,
    ) {
        bytes.set(backward_data(context, settings, dx, w, dy)?.bytes(algorithm) as usize)
    }

    fn cudnnGetConvolutionBackwardFilterWorkspaceSize(
        context: Handle, x: Handle, dy: Handle, settings: Handle, dw: Handle, algorithm: i32, bytes: Out<usize>,
    ) {
        bytes.set(backward_filter(context, settings, x, dw, dy)?.bytes(algorithm) as usize)
    }

    fn cudnnConvolutionForward(
        context: Handle, _alpha: Opaque, x: Handle, _x_data: Opaque, w: Handle, _w_data: Opaque, settings: Handle,
        algorithm: i32, workspace: Opaque, available: usize, _beta: Opaque, y: Handle, _y_data: Opaque,
    ) {
        library::note_work(context)?;
        forward(context, settings, x, w, y)?.execute(algorithm, workspace, available)
    }

    fn cudnnConvolutionBackwardData(
        context: Handle, _alpha: Opaque, w: Handle, _w_data: Opaque, dy: Handle, _dy_data: Opaque, settings: Handle,
        algorithm: i32, workspace: Opaque, available: usize, _beta: Opaque, dx: Handle, _dx_data: Opaque,
    ) {
        library::note_work(context)?;
        backward_data(context, settings, dx, w, dy)?.execute(algorithm, workspace, available)
    }

    fn cudnnConvolutionBackwardFilter(
        context: Handle, _alpha: Opaque, x: Handle, _x_data: Opaque, dy: Handle, _dy_data: Opaque, settings: Handle,
        algorithm: i32, workspace: Opaque, available: usize, _beta: Opaque, dw: Handle, _dw_data: Opaque,
    ) {
        library::note_work(context)?;
        backward_filter(context, settings, x, dw, dy)?.execute(algorithm, workspace, available)
    }

    fn cudnnConvolutionBiasActivationForward(
        context: Handle, _alpha1: Opaque, x: Handle, _x_data: Opaque, w: Handle, _w_data: Opaque, settings: Handle,
        algorithm: i32, workspace: Opaque, available: usize, _alpha2: Opaque, _z: Handle, _z_data: Opaque,
        _bias: Handle, _bias_data: Opaque, _activation: Handle, y: Handle, _y_data: Opaque,
    ) {
        library::note_work(context)?;
        forward(context, settings, x, w, y)?.execute(algorithm, workspace, available)
    }
}

#[cfg(test)]
mod tests;
