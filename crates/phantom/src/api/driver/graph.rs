//! Captures and graphs through the driver interface. Functions whose signature changed are here once for each signature.

use std::ffi::{c_char, c_int, c_uint, c_void};

use super::DriverStatus;
use crate::api::captured::{
    CaptureInfo, EdgeData, end_capture, launch_host_function, update_dependencies, write_edges, write_nodes,
};
use crate::boundary::{In, Out, export};
use crate::cuda::capture::{self, Mode};
use crate::cuda::graph::{self, NodeId, Work};
use crate::handle::Handle;

/// The functions that have the data of edges since CUDA 12.3.
const WITH_EDGE_DATA: [&str; 4] = [
    "cuGraphGetEdges",
    "cuGraphNodeGetDependencies",
    "cuGraphNodeGetDependentNodes",
    "cuStreamUpdateCaptureDependencies",
];

/// The exported function that `cuGetProcAddress` returns for a name with a changed signature, by the CUDA version that
/// the caller names (CUDA 13.0, cudaTypedefs.h); `None` for all other names.
pub(crate) fn symbol_of_version(name: &str, wanted: c_int) -> Option<String> {
    let suffix = match wanted {
        12_030.. if name == "cuStreamGetCaptureInfo" => "_v3",
        11_030.. if name == "cuStreamGetCaptureInfo" => "_v2",
        _ if name == "cuStreamGetCaptureInfo" => "",
        12_030.. if WITH_EDGE_DATA.contains(&name) => "_v2",
        _ if WITH_EDGE_DATA.contains(&name) => "",
        _ => return None,
    };
    Some(format!("{name}{suffix}"))
}

export! { DriverStatus;
    fn cuStreamBeginCapture_v2(which: Handle, mode: c_int) { Ok(capture::begin(which, Mode::from_number(mode)?)?) }
    fn cuStreamEndCapture(which: Handle, captured: Out<Handle>) { end_capture(which, captured) }
    fn cuStreamIsCapturing(which: Handle, status: Out<c_int>) { status.set(capture::status_of(which)?.number()) }
    fn cuThreadExchangeStreamCaptureMode(mode: Out<c_int>) {
        let wanted = Mode::from_number(mode.get::<DriverStatus>()?)?;
        mode.set(capture::exchange_mode(wanted) as c_int)
    }
    fn cuStreamGetCaptureInfo(which: Handle, status: Out<c_int>, id: Out<u64>) {
        CaptureInfo { status, id, graph: Out::NULL, nodes: Out::NULL, edges: None, count: Out::NULL }.write(which)
    }
    fn cuStreamGetCaptureInfo_v2(
        which: Handle, status: Out<c_int>, id: Out<u64>, graph: Out<Handle>, nodes: Out<*const NodeId>, count: Out<usize>,
    ) {
        CaptureInfo { status, id, graph, nodes, edges: None, count }.write(which)
    }
    fn cuStreamGetCaptureInfo_v3(
        which: Handle, status: Out<c_int>, id: Out<u64>, graph: Out<Handle>, nodes: Out<*const NodeId>,
        edges: Out<*const EdgeData>, count: Out<usize>,
    ) {
        CaptureInfo { status, id, graph, nodes, edges: Some(edges), count }.write(which)
    }
    fn cuStreamUpdateCaptureDependencies(which: Handle, nodes: In<NodeId>, count: usize, flags: c_uint) {
        update_dependencies(which, nodes, count, flags)
    }
    fn cuStreamUpdateCaptureDependencies_v2(
        which: Handle, nodes: In<NodeId>, _data: In<EdgeData>, count: usize, flags: c_uint,
    ) {
        update_dependencies(which, nodes, count, flags)
    }
    fn cuLaunchHostFunc(which: Handle, callback: Option<graph::Callback>, data: *mut c_void) {
        launch_host_function(which, callback, data)
    }
    fn cuGraphCreate(created: Out<Handle>, _flags: c_uint) { created.set(graph::create()) }
    fn cuGraphDestroy(which: Handle) { Ok(graph::destroy(which)?) }
    fn cuGraphInstantiateWithFlags(created: Out<Handle>, which: Handle, flags: u64) {
        created.set(graph::instantiate(which, flags)?)
    }
    fn cuGraphLaunch(which: Handle, on: Handle) {
        capture::forbid_on(on)?; // as an H200 did, CUDA 12.6: onnxruntime, pull request 32081
        Ok(graph::launch(which)?)
    }
    fn cuGraphUpload(which: Handle, _on: Handle) { Ok(graph::check_executable(which)?) }
    fn cuGraphExecDestroy(which: Handle) { Ok(graph::destroy_executable(which)?) }
    fn cuGraphExecGetFlags(which: Handle, flags: Out<u64>) { flags.set(graph::flags(which)?) }
    fn cuGraphDebugDotPrint(which: Handle, _path: In<c_char>, _flags: c_uint) { Ok(graph::check(which)?) }
    fn cuGraphAddEmptyNode(created: Out<NodeId>, which: Handle, dependencies: In<NodeId>, count: usize) {
        let dependencies = dependencies.array(count).to_vec::<DriverStatus>()?;
        created.set(graph::add(which, Work::Empty, &dependencies)?)
    }
    fn cuGraphGetNodes(which: Handle, nodes: Out<NodeId>, count: Out<usize>) {
        write_nodes(&graph::nodes(which)?, nodes, Out::NULL, count)
    }
    fn cuGraphGetRootNodes(which: Handle, nodes: Out<NodeId>, count: Out<usize>) {
        write_nodes(&graph::roots(which)?, nodes, Out::NULL, count)
    }
    fn cuGraphGetEdges(which: Handle, from: Out<NodeId>, to: Out<NodeId>, count: Out<usize>) {
        write_edges(which, [from, to], Out::NULL, count)
    }
    fn cuGraphGetEdges_v2(which: Handle, from: Out<NodeId>, to: Out<NodeId>, data: Out<EdgeData>, count: Out<usize>) {
        write_edges(which, [from, to], data, count)
    }
    fn cuGraphNodeGetDependencies(node: NodeId, nodes: Out<NodeId>, count: Out<usize>) {
        write_nodes(&graph::dependencies(node)?, nodes, Out::NULL, count)
    }
    fn cuGraphNodeGetDependencies_v2(node: NodeId, nodes: Out<NodeId>, data: Out<EdgeData>, count: Out<usize>) {
        write_nodes(&graph::dependencies(node)?, nodes, data, count)
    }
    fn cuGraphNodeGetDependentNodes(node: NodeId, nodes: Out<NodeId>, count: Out<usize>) {
        write_nodes(&graph::dependents(node)?, nodes, Out::NULL, count)
    }
    fn cuGraphNodeGetDependentNodes_v2(node: NodeId, nodes: Out<NodeId>, data: Out<EdgeData>, count: Out<usize>) {
        write_nodes(&graph::dependents(node)?, nodes, data, count)
    }
    fn cuGraphNodeGetType(node: NodeId, number: Out<c_int>) { number.set(graph::work(node)?.number()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_gets_the_signature_of_its_version() {
        let cases = [
            ("cuStreamGetCaptureInfo", 13_000, Some("cuStreamGetCaptureInfo_v3")),
            ("cuStreamGetCaptureInfo", 12_000, Some("cuStreamGetCaptureInfo_v2")),
            ("cuStreamGetCaptureInfo", 10_010, Some("cuStreamGetCaptureInfo")),
            ("cuGraphGetEdges", 12_030, Some("cuGraphGetEdges_v2")),
            ("cuGraphGetEdges", 12_020, Some("cuGraphGetEdges")),
            ("cuGraphGetNodes", 12_020, None),
        ];
        for (name, wanted, expected) in cases {
            assert_eq!(symbol_of_version(name, wanted).as_deref(), expected, "{name} of {wanted}");
        }
    }
}
