//! The operations of a graph that decide the size of the workspace.

use super::super::shape::{FLOAT, Tensor};
use super::super::workspace::{self, Convolution, Direction, Model};
use super::attributes as name;
use super::descriptor::Descriptor;
use crate::device::profile;

/// The engine of a graph: the modelled engine, or one without workspace. Real cuDNN offers several engines too, so that
/// PyTorch finds an alternative if the workspace of the first is too large.
pub(crate) const MODELLED_ENGINE: i64 = 0;
/// See [`MODELLED_ENGINE`].
pub(crate) const FRUGAL_ENGINE: i64 = 1;
/// An engine for fp32 convolutions without TF32, which PyTorch takes by its numerical notes.
pub(crate) const FP32_ENGINE: i64 = 2;

/// The workspace of a plan, and the model it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Workspace {
    pub(crate) model: Model,
    pub(crate) bytes: u64,
}

/// The workspace of an execution plan; `None` for another descriptor.
pub(crate) fn plan_workspace(plan: &Descriptor) -> Option<Workspace> {
    config_workspace(plan.child(name::EXECUTION_PLAN_ENGINE_CONFIG)?)
}

/// The workspace of an engine configuration; `None` for another descriptor.
pub(crate) fn config_workspace(config: &Descriptor) -> Option<Workspace> {
    let engine = config.child(name::ENGINECFG_ENGINE)?;
    let graph = engine.child(name::ENGINE_OPERATION_GRAPH)?;
    Some(match engine.number(name::ENGINE_GLOBAL_INDEX) {
        Some(MODELLED_ENGINE) => graph_workspace(graph),
        Some(FP32_ENGINE) => {
            let bytes = largest(graph, |convolution| workspace::convolution_in_fp32(profile(), convolution));
            Workspace { model: Model::Convolution, bytes: bytes.unwrap_or(0) }
        }
        _ => Workspace { bytes: 0, ..graph_workspace(graph) },
    })
}

/// True if a graph has an engine with TF32 and one without.
pub(crate) fn has_fp32_engine(graph: &Descriptor) -> bool {
    convolutions(graph).any(|convolution| workspace::has_choice_of_precision(profile(), &convolution))
}

fn largest(graph: &Descriptor, bytes: impl Fn(&Convolution) -> u64) -> Option<u64> {
    convolutions(graph).map(|convolution| bytes(&convolution)).max()
}

/// True if a graph has a convolution: only then is there an engine without workspace as a fallback.
pub(crate) fn is_convolution(graph: &Descriptor) -> bool {
    convolutions(graph).next().is_some()
}

fn graph_workspace(graph: &Descriptor) -> Workspace {
    if let Some(bytes) = largest(graph, |convolution| workspace::convolution(profile(), convolution)) {
        return Workspace { model: Model::Convolution, bytes };
    }
    if is_attention(graph) {
        return Workspace { model: Model::Attention, bytes: attention(graph) };
    }
    Workspace { model: Model::OtherGraph, bytes: 0 }
}

fn convolutions(graph: &Descriptor) -> impl Iterator<Item = Convolution> {
    graph.children(name::OPERATIONGRAPH_OPS).iter().filter_map(|operation| convolution(operation))
}

fn convolution(operation: &Descriptor) -> Option<Convolution> {
    let (direction, [x, w, y]) = match operation.kind {
        name::OPERATION_CONVOLUTION_FORWARD => (
            Direction::Forward,
            [
                name::OPERATION_CONVOLUTION_FORWARD_X,
                name::OPERATION_CONVOLUTION_FORWARD_W,
                name::OPERATION_CONVOLUTION_FORWARD_Y,
            ],
        ),
        name::OPERATION_CONVOLUTION_BACKWARD_DATA => (
            Direction::BackwardData,
            [
                name::OPERATION_CONVOLUTION_BWD_DATA_DX,
                name::OPERATION_CONVOLUTION_BWD_DATA_W,
                name::OPERATION_CONVOLUTION_BWD_DATA_DY,
            ],
        ),
        name::OPERATION_CONVOLUTION_BACKWARD_FILTER => (
            Direction::BackwardFilter,
            [
                name::OPERATION_CONVOLUTION_BWD_FILTER_X,
                name::OPERATION_CONVOLUTION_BWD_FILTER_DW,
                name::OPERATION_CONVOLUTION_BWD_FILTER_DY,
            ],
        ),
        _ => return None,
    };
    let tensor = |attribute| operation.child(attribute).map(|child| tensor(child));
    Some(Convolution { direction, x: tensor(x)?, w: tensor(w)?, y: tensor(y)? })
}

fn tensor(descriptor: &Descriptor) -> Tensor {
    Tensor {
        data_type: descriptor.number(name::TENSOR_DATA_TYPE).unwrap_or(0) as i32,
        dims: descriptor.numbers(name::TENSOR_DIMENSIONS),
        strides: descriptor.numbers(name::TENSOR_STRIDES),
    }
}

fn is_attention(graph: &Descriptor) -> bool {
    let kinds = [name::OPERATION_MATMUL, name::OPERATION_SDPA_FWD, name::OPERATION_SDPA_BWD];
    graph.children(name::OPERATIONGRAPH_OPS).iter().any(|operation| kinds.contains(&operation.kind))
}

/// Products of a forward: scores and output. Backward repeats both and adds their gradients.
const FORWARD_PRODUCTS: usize = 2;

/// A backward that sums its query gradients in fp32 has the sum as a separate operand, allocated by cudnn-frontend;
/// otherwise the gradients of the scores are kept (Note [cuDNN workspaces]).
fn attention(graph: &Descriptor) -> u64 {
    let products: Vec<_> =
        graph.children(name::OPERATIONGRAPH_OPS).iter().filter(|op| op.kind == name::OPERATION_MATMUL).collect();
    let results: Vec<_> = products.iter().filter_map(|product| product.child(name::OPERATION_MATMUL_CDESC)).collect();
    let has_sum = results.iter().any(|result| {
        // cudnn-frontend sets the attribute of virtual tensors only.
        result.number(name::TENSOR_IS_VIRTUAL).unwrap_or(0) == 0
            && result.number(name::TENSOR_DATA_TYPE) == Some(i64::from(FLOAT))
    });
    match results.first() {
        Some(scores) if products.len() > FORWARD_PRODUCTS && !has_sum => {
            workspace::score_gradients(&scores.numbers(name::TENSOR_DIMENSIONS))
        }
        _ => 0,
    }
}
