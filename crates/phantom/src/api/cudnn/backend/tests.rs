//! The walk that cudnn-frontend does: tensors, operation, graph, heuristic, plan, execution.
#![expect(clippy::unwrap_used, reason = "test")]

use super::super::library::cudnnCreate;
use super::super::shape::{FLOAT, HALF, Tensor};
use super::super::workspace::{self, Convolution, Direction};
use super::attributes::{self as name, BACKEND_DESCRIPTOR, INT64};
use super::*;
use crate::device::profile;

const TENSOR: i32 = 17;
const VARIANT_PACK: i32 = 16;
const DATA_TYPE: i32 = 1;
const BOOLEAN: i32 = 2;
const HEUR_MODE: i32 = 8;
const VOID_PTR: i32 = 6;

fn new(kind: i32) -> Handle {
    let mut handle = std::ptr::null_mut();
    assert_eq!(cudnnBackendCreateDescriptor(kind, Out::to(&mut handle)), CudnnStatus::SUCCESS);
    handle
}

fn set<T>(handle: Handle, attribute: i32, kind: i32, values: &[T]) -> CudnnStatus
where
    T: Copy,
{
    let first = values.first().map_or(In::to(&0_u8), |value| In::to(value).cast());
    cudnnBackendSetAttribute(handle, attribute, kind, values.len() as i64, first)
}

fn finalize(handle: Handle) -> Handle {
    assert_eq!(cudnnBackendFinalize(handle), CudnnStatus::SUCCESS);
    handle
}

fn int64(handle: Handle, attribute: i32) -> i64 {
    let (mut count, mut value) = (-1, -1_i64);
    let (count_out, value_out) = (Out::to(&mut count), Out::to(&mut value).cast());
    assert_eq!(cudnnBackendGetAttribute(handle, attribute, INT64, 1, count_out, value_out), CudnnStatus::SUCCESS);
    assert_eq!(count, 1);
    value
}

fn tensor(shape: &Tensor, is_virtual: bool) -> Handle {
    let handle = new(TENSOR);
    set(handle, name::TENSOR_DATA_TYPE, DATA_TYPE, &[shape.data_type]);
    set(handle, name::TENSOR_DIMENSIONS, INT64, &shape.dims);
    set(handle, name::TENSOR_STRIDES, INT64, &shape.strides);
    if is_virtual {
        set(handle, name::TENSOR_IS_VIRTUAL, BOOLEAN, &[true]);
    }
    finalize(handle)
}

fn build_graph(operations: &[Handle]) -> Handle {
    let handle = new(name::OPERATIONGRAPH);
    assert_eq!(set(handle, name::OPERATIONGRAPH_OPS, BACKEND_DESCRIPTOR, operations), CudnnStatus::SUCCESS);
    finalize(handle)
}

/// The configurations that the heuristic fills in, of at most two that the caller made room for.
fn configs(graph: Handle, mode: i32, room: i64) -> Vec<Handle> {
    let heuristic = new(name::ENGINEHEUR);
    set(heuristic, name::ENGINEHEUR_OPERATION_GRAPH, BACKEND_DESCRIPTOR, &[graph]);
    set(heuristic, name::ENGINEHEUR_MODE, HEUR_MODE, &[mode]);
    finalize(heuristic);
    let mut made = [new(name::ENGINECFG), new(name::ENGINECFG)];
    let mut found = -1;
    let array = Out::to(&mut made).cast();
    let (attribute, kind) = (name::ENGINEHEUR_RESULTS, BACKEND_DESCRIPTOR);
    let status = cudnnBackendGetAttribute(heuristic, attribute, kind, room, Out::to(&mut found), array);
    assert_eq!(status, CudnnStatus::SUCCESS);
    made[..found as usize].to_vec()
}

fn plan(config: Handle) -> Handle {
    let handle = new(name::EXECUTION_PLAN);
    set(handle, name::EXECUTION_PLAN_ENGINE_CONFIG, BACKEND_DESCRIPTOR, &[config]);
    finalize(handle)
}

fn shapes() -> Convolution {
    Convolution {
        direction: Direction::BackwardFilter,
        x: Tensor::packed(HALF, vec![8, 16, 32, 32]),
        w: Tensor::packed(HALF, vec![32, 16, 3, 3]),
        y: Tensor::packed(HALF, vec![8, 32, 30, 30]),
    }
}

fn convolution_graph() -> Handle {
    let Convolution { x, w, y, .. } = shapes();
    let operation = new(name::OPERATION_CONVOLUTION_BACKWARD_FILTER);
    for (attribute, shape) in [
        (name::OPERATION_CONVOLUTION_BWD_FILTER_X, x),
        (name::OPERATION_CONVOLUTION_BWD_FILTER_DW, w),
        (name::OPERATION_CONVOLUTION_BWD_FILTER_DY, y),
    ] {
        let child = tensor(&shape, false);
        set(operation, attribute, BACKEND_DESCRIPTOR, &[child]);
        // PyTorch destroys child descriptors once the parent is set.
        assert_eq!(cudnnBackendDestroyDescriptor(child), CudnnStatus::SUCCESS);
    }
    build_graph(&[finalize(operation)])
}

#[test]
fn a_convolution_is_planned_and_executed() {
    let found = configs(convolution_graph(), 0, 2);
    let expected = workspace::convolution(profile(), &shapes()) as i64;
    assert!(expected > 0);
    let sizes: Vec<_> = found.iter().map(|&config| int64(plan(config), name::EXECUTION_PLAN_WORKSPACE_SIZE)).collect();
    assert_eq!(sizes, [expected, 0], "the modelled engine, then one that needs nothing");

    let mut context = std::ptr::null_mut();
    assert_eq!(cudnnCreate(Out::to(&mut context)), CudnnStatus::SUCCESS);
    let pack = new(VARIANT_PACK);
    set(pack, name::VARIANT_PACK_WORKSPACE, VOID_PTR, &[0x1000_usize]);
    assert_eq!(cudnnBackendExecute(context, plan(found[0]), finalize(pack)), CudnnStatus::SUCCESS);
    assert_eq!(cudnnBackendExecute(context, pack, pack), CudnnStatus::INVALID, "a pack is no plan");
}

#[test]
fn no_more_configurations_are_filled_than_asked_for() {
    let graph = convolution_graph();
    for (mode, room, found) in [(0, 2, 2), (0, 1, 1), (3, 2, 2), (2, 2, 1)] {
        assert_eq!(configs(graph, mode, room).len(), found, "mode {mode}, room {room}");
    }
}

/// The attributes of an engine and its configuration that PyTorch reads: type, and number of elements.
#[test]
fn engines_answer_what_is_asked_of_them() {
    let config = configs(convolution_graph(), 0, 1)[0];
    let engine = new(name::ENGINE);
    let mut target = [engine];
    let (kind, array) = (BACKEND_DESCRIPTOR, Out::to(&mut target).cast());
    let status = cudnnBackendGetAttribute(config, name::ENGINECFG_ENGINE, kind, 1, Out::to(&mut 0), array);
    assert_eq!(status, CudnnStatus::SUCCESS);
    let cases = [
        (engine, name::ENGINE_GLOBAL_INDEX, INT64, 1),
        (engine, name::ENGINE_NUMERICAL_NOTE, name::NUMERICAL_NOTE, 0),
        (engine, name::ENGINE_BEHAVIOR_NOTE, name::BEHAVIOR_NOTE, 0),
        (engine, name::ENGINE_KNOB_INFO, BACKEND_DESCRIPTOR, 0),
        (config, name::ENGINECFG_KNOB_CHOICES, BACKEND_DESCRIPTOR, 0),
        (config, name::ENGINECFG_WORKSPACE_SIZE, INT64, 1),
        (config, name::ENGINECFG_SHARED_MEMORY_USED, name::INT32, 1),
    ];
    for (handle, attribute, kind, expected) in cases {
        let mut count = -1;
        let count_out = Out::to(&mut count);
        let status = cudnnBackendGetAttribute(handle, attribute, kind, 64, count_out, Out::to(&mut [0_i64; 64]).cast());
        assert_eq!((status, count), (CudnnStatus::SUCCESS, expected), "attribute {attribute}");
        let other = BOOLEAN;
        let status = cudnnBackendGetAttribute(handle, attribute, other, 0, count_out, Out::to(&mut 0));
        assert_eq!(status, CudnnStatus::INVALID, "attribute {attribute} read as another type");
    }
}

#[test]
fn attention_takes_memory_only_where_score_gradients_are_kept() {
    let scores = Tensor::packed(FLOAT, vec![2, 4, 100, 100]);
    let queries = Tensor::packed(FLOAT, vec![2, 4, 100, 64]);
    let product = |shape: &Tensor, is_virtual| {
        let operation = new(name::OPERATION_MATMUL);
        let result = tensor(shape, is_virtual);
        set(operation, name::OPERATION_MATMUL_CDESC, BACKEND_DESCRIPTOR, &[result]);
        finalize(operation)
    };
    let (inner, summed) = (product(&scores, true), product(&queries, false));
    let cases: [(&[Handle], i64); 3] = [
        (&[inner, inner], 0),
        (&[inner, inner, inner, summed], 0),
        (&[inner, inner, inner, inner], 2 * 4 * 128 * 128 * 2),
    ];
    for (operations, expected) in cases {
        let config = configs(build_graph(operations), 0, 2)[0];
        assert_eq!(int64(config, name::ENGINECFG_WORKSPACE_SIZE), expected);
    }
}

#[test]
fn what_nobody_set_is_not_made_up() {
    let shape = tensor(&Tensor::packed(HALF, vec![1]), false);
    let unknown = plan(configs(convolution_graph(), 0, 1)[0]);
    let json = 405;
    for (handle, attribute) in [(shape, 905), (unknown, json)] {
        let (mut count, mut value) = (-1, [7_u8; 8]);
        let array = Out::to(&mut value).cast();
        let status = cudnnBackendGetAttribute(handle, attribute, INT64, 1, Out::to(&mut count), array);
        assert_eq!((status, count, value), (CudnnStatus::UNSUPPORTED, -1, [7; 8]));
    }
}

#[test]
fn incomplete_and_final_descriptors_refuse() {
    for kind in [name::ENGINE, name::ENGINECFG, name::ENGINEHEUR, name::EXECUTION_PLAN, name::OPERATIONGRAPH] {
        assert_eq!(cudnnBackendFinalize(new(kind)), CudnnStatus::INVALID, "kind {kind}");
    }
    let shape = tensor(&Tensor::packed(HALF, vec![1]), false);
    assert_eq!(set(shape, name::TENSOR_DATA_TYPE, DATA_TYPE, &[FLOAT]), CudnnStatus::INVALID);
    let mut value = 0_u8;
    let unfinished = new(TENSOR);
    let read = cudnnBackendGetAttribute(unfinished, 901, DATA_TYPE, 1, Out::to(&mut 0), Out::to(&mut value));
    assert_eq!(read, CudnnStatus::INVALID);
}

#[test]
fn elements_have_the_sizes_of_the_header() {
    // cudnnHandle_t, bool, int64_t, float, double, void *, an enum, int32_t, char, cudnnFraction_t.
    let cases = [(0, 8), (2, 1), (3, 8), (4, 4), (5, 8), (6, 8), (14, 4), (23, 4), (24, 1), (26, 16)];
    for (kind, size) in cases {
        assert_eq!(attributes::element_bytes(kind), Some(size), "type {kind}");
    }
    assert_eq!(attributes::element_bytes(31), None);
    let written = read(INT64, 2, In::to(&[1_i64, 2]).cast()).unwrap();
    assert_eq!((written.kind(), written.elements()), (INT64, 2));
}
