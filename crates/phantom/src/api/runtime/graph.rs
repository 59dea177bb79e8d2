//! Graphs: captured, instantiated, launched; nothing runs.

use std::ffi::{c_char, c_uint};

use super::CudaStatus;
use crate::boundary::{In, Out, export};
use crate::cuda::graph;
use crate::handle::Handle;

export! { CudaStatus;
    fn cudaGraphCreate(created: Out<Handle>, _flags: c_uint) { created.set(graph::create()) }
    fn cudaGraphDestroy(which: Handle) { Ok(graph::destroy(which)?) }
    fn cudaGraphInstantiate(created: Out<Handle>, which: Handle, _flags: u64) { created.set(graph::instantiate(which)?) }
    fn cudaGraphInstantiateWithFlags(created: Out<Handle>, which: Handle, _flags: u64) {
        created.set(graph::instantiate(which)?)
    }
    fn cudaGraphLaunch(which: Handle, _stream: Handle) { Ok(graph::launch(which)?) }
    fn cudaGraphUpload(which: Handle, _stream: Handle) { Ok(graph::launch(which)?) }
    fn cudaGraphExecDestroy(which: Handle) { Ok(graph::destroy_executable(which)?) }
    fn cudaGraphDebugDotPrint(which: Handle, _path: In<c_char>, _flags: c_uint) { Ok(graph::check(which)?) }
    fn cudaGraphGetNodes(which: Handle, nodes: Out<usize>, count: Out<usize>) {
        graph::check(which)?;
        let room: usize = if nodes.is_null() { 0 } else { count.get::<CudaStatus>()? };
        nodes.array(room).write::<CudaStatus>([graph::NODE].into_iter().take(room))?;
        count.set(1)
    }
    fn cudaGraphGetRootNodes(which: Handle, nodes: Out<usize>, count: Out<usize>) {
        graph::check(which)?;
        let room: usize = if nodes.is_null() { 0 } else { count.get::<CudaStatus>()? };
        nodes.array(room).write::<CudaStatus>([graph::NODE].into_iter().take(room))?;
        count.set(1)
    }
    fn cudaGraphNodeGetDependencies(_node: usize, _dependencies: Out<usize>, third: Out<usize>, fourth: Out<usize>) {
        // CUDA 13 has the data of the edges before the count.
        let count = if super::is_cuda_13("cudaGraphNodeGetDependencies")? { fourth } else { third };
        count.set(0)
    }
    fn cudaGraphNodeGetDependencies_v2(_node: usize, _dependencies: Out<usize>, _edges: Out<usize>, count: Out<usize>) {
        count.set(0)
    }
}
