//! Graphs: captured, instantiated, launched; their nodes and edges. No kernel runs.

use std::ffi::{c_char, c_int, c_uint, c_void};

use super::CudaStatus;
use crate::api::captured::{
    CaptureInfo, EdgeData, end_capture, launch_host_function, update_dependencies, write_edges, write_nodes,
};
use crate::boundary::{In, Out, export};
use crate::cuda::capture::{self, Mode};
use crate::cuda::graph::{self, NodeId, Work};
use crate::handle::Handle;

export! { CudaStatus;
    fn cudaGraphCreate(created: Out<Handle>, _flags: c_uint) { created.set(graph::create()) }
    fn cudaGraphDestroy(which: Handle) { Ok(graph::destroy(which)?) }
    fn cudaGraphInstantiate(created: Out<Handle>, which: Handle, flags: u64) { created.set(graph::instantiate(which, flags)?) }
    fn cudaGraphInstantiateWithFlags(created: Out<Handle>, which: Handle, flags: u64) {
        created.set(graph::instantiate(which, flags)?)
    }
    fn cudaGraphLaunch(which: Handle, on: Handle) {
        capture::forbid_on(on)?; // as an H200 did, CUDA 12.6: onnxruntime, pull request 32081
        Ok(graph::launch(which)?)
    }
    fn cudaGraphUpload(which: Handle, _stream: Handle) { Ok(graph::check_executable(which)?) }
    fn cudaGraphExecDestroy(which: Handle) { Ok(graph::destroy_executable(which)?) }
    fn cudaGraphExecGetFlags(which: Handle, flags: Out<u64>) { flags.set(graph::flags(which)?) }
    fn cudaGraphDebugDotPrint(which: Handle, _path: In<c_char>, _flags: c_uint) { Ok(graph::check(which)?) }
    fn cudaGraphAddEmptyNode(created: Out<NodeId>, which: Handle, dependencies: In<NodeId>, count: usize) {
        let dependencies = dependencies.array(count).to_vec::<CudaStatus>()?;
        created.set(graph::add(which, Work::Empty, &dependencies)?)
    }
    fn cudaGraphGetNodes(which: Handle, nodes: Out<NodeId>, count: Out<usize>) {
        write_nodes(&graph::nodes(which)?, nodes, Out::NULL, count)
    }
    fn cudaGraphGetRootNodes(which: Handle, nodes: Out<NodeId>, count: Out<usize>) {
        write_nodes(&graph::roots(which)?, nodes, Out::NULL, count)
    }
    fn cudaGraphGetEdges(which: Handle, from: Out<NodeId>, to: Out<NodeId>, fourth: Out<usize>, fifth: Out<usize>) {
        // CUDA 13 has the data of the edges before the count.
        let is_13 = super::is_cuda_13("cudaGraphGetEdges")?;
        let (data, count) = if is_13 { (fourth.other_version(), fifth) } else { (Out::NULL, fourth) };
        write_edges(which, [from, to], data, count)
    }
    fn cudaGraphGetEdges_v2(which: Handle, from: Out<NodeId>, to: Out<NodeId>, data: Out<EdgeData>, count: Out<usize>) {
        write_edges(which, [from, to], data, count)
    }
    fn cudaGraphNodeGetDependencies(node: NodeId, nodes: Out<NodeId>, third: Out<usize>, fourth: Out<usize>) {
        let (data, count) = of_version("cudaGraphNodeGetDependencies", third, fourth)?;
        write_nodes(&graph::dependencies(node)?, nodes, data, count)
    }
    fn cudaGraphNodeGetDependencies_v2(node: NodeId, nodes: Out<NodeId>, data: Out<EdgeData>, count: Out<usize>) {
        write_nodes(&graph::dependencies(node)?, nodes, data, count)
    }
    fn cudaGraphNodeGetDependentNodes(node: NodeId, nodes: Out<NodeId>, third: Out<usize>, fourth: Out<usize>) {
        let (data, count) = of_version("cudaGraphNodeGetDependentNodes", third, fourth)?;
        write_nodes(&graph::dependents(node)?, nodes, data, count)
    }
    fn cudaGraphNodeGetDependentNodes_v2(node: NodeId, nodes: Out<NodeId>, data: Out<EdgeData>, count: Out<usize>) {
        write_nodes(&graph::dependents(node)?, nodes, data, count)
    }
    fn cudaGraphNodeGetType(node: NodeId, number: Out<c_int>) { number.set(graph::work(node)?.number()) }

    fn cudaStreamBeginCapture(which: Handle, mode: c_int) { Ok(capture::begin(which, Mode::from_number(mode)?)?) }
    fn cudaStreamEndCapture(which: Handle, captured: Out<Handle>) { end_capture(which, captured) }
    fn cudaStreamIsCapturing(which: Handle, status: Out<c_int>) { status.set(capture::status_of(which)?.number()) }
    fn cudaThreadExchangeStreamCaptureMode(mode: Out<c_int>) {
        let wanted = Mode::from_number(mode.get::<CudaStatus>()?)?;
        mode.set(capture::exchange_mode(wanted) as c_int)
    }
    fn cudaStreamGetCaptureInfo(
        which: Handle, status: Out<c_int>, id: Out<u64>, graph: Out<Handle>, nodes: Out<*const NodeId>,
        edges: Out<*const EdgeData>, count: Out<usize>,
    ) {
        if super::is_cuda_13("cudaStreamGetCaptureInfo")? {
            return CaptureInfo { status, id, graph, nodes, edges: Some(edges), count }.write(which);
        }
        // In CUDA 12 this name has three parameters.
        CaptureInfo { status, id, graph: Out::NULL, nodes: Out::NULL, edges: None, count: Out::NULL }.write(which)
    }
    fn cudaStreamGetCaptureInfo_v2(
        which: Handle, status: Out<c_int>, id: Out<u64>, graph: Out<Handle>, nodes: Out<*const NodeId>, count: Out<usize>,
    ) {
        CaptureInfo { status, id, graph, nodes, edges: None, count }.write(which)
    }
    fn cudaStreamGetCaptureInfo_v3(
        which: Handle, status: Out<c_int>, id: Out<u64>, graph: Out<Handle>, nodes: Out<*const NodeId>,
        edges: Out<*const EdgeData>, count: Out<usize>,
    ) {
        CaptureInfo { status, id, graph, nodes, edges: Some(edges), count }.write(which)
    }
    fn cudaStreamUpdateCaptureDependencies(which: Handle, nodes: In<NodeId>, third: usize, fourth: usize, fifth: c_uint) {
        // CUDA 13 has the data of the edges before the count.
        let is_13 = super::is_cuda_13("cudaStreamUpdateCaptureDependencies")?;
        let (count, flags) = if is_13 { (fourth, fifth) } else { (third, fourth as c_uint) };
        update_dependencies(which, nodes, count, flags)
    }
    fn cudaStreamUpdateCaptureDependencies_v2(
        which: Handle, nodes: In<NodeId>, _data: In<EdgeData>, count: usize, flags: c_uint,
    ) {
        update_dependencies(which, nodes, count, flags)
    }
    fn cudaLaunchHostFunc(which: Handle, callback: Option<graph::Callback>, data: *mut c_void) {
        launch_host_function(which, callback, data)
    }
}

/// The edge data and the count of a function that has both in CUDA 13, in this order, and only the count in CUDA 12.
fn of_version(
    function: &'static str,
    third: Out<usize>,
    fourth: Out<usize>,
) -> Result<(Out<EdgeData>, Out<usize>), CudaStatus> {
    Ok(if super::is_cuda_13(function)? { (third.other_version(), fourth) } else { (Out::NULL, third) })
}
