//! Streams, and what is called when their work is done: at once.

use std::ffi::{c_int, c_uint, c_void};

use super::CudaStatus;
use crate::boundary::{Out, export};
use crate::cuda::{INVALID_VALUE, event, graph, stream};
use crate::handle::Handle;

/// `cudaStreamCallback_t`.
type StreamCallback = extern "C" fn(Handle, CudaStatus, *mut c_void);

export! { CudaStatus;
    fn cudaStreamCreate(created: Out<Handle>) { created.set(stream::create(0, 0)) }
    fn cudaStreamCreateWithFlags(created: Out<Handle>, flags: c_uint) { created.set(stream::create(flags, 0)) }
    fn cudaStreamCreateWithPriority(created: Out<Handle>, flags: c_uint, priority: c_int) {
        created.set(stream::create(flags, priority))
    }
    fn cudaStreamDestroy(which: Handle) { Ok(stream::destroy(which)?) }
    fn cudaStreamQuery(which: Handle) { stream::get(which)?; Ok(()) }
    fn cudaStreamSynchronize(which: Handle) {
        stream::get(which)?;
        event::complete(Some(which));
        Ok(())
    }
    fn cudaStreamGetPriority(which: Handle, priority: Out<c_int>) { priority.set(stream::get(which)?.priority) }
    fn cudaStreamGetFlags(which: Handle, flags: Out<c_uint>) { flags.set(stream::get(which)?.flags) }
    fn cudaStreamGetId(which: Handle, id: Out<u64>) { id.set(which as u64) }
    fn cudaStreamGetDevice(which: Handle, device: Out<c_int>) { device.set(stream::get(which)?.device as c_int) }
    fn cudaStreamAddCallback(which: Handle, callback: Option<StreamCallback>, data: *mut c_void, _flags: c_uint) {
        stream::get(which)?;
        callback.ok_or(INVALID_VALUE)?(which, CudaStatus(0), data);
        Ok(())
    }
    fn cudaLaunchHostFunc(which: Handle, callback: Option<stream::Callback>, data: *mut c_void) {
        stream::get(which)?;
        callback.ok_or(INVALID_VALUE)?(data);
        Ok(())
    }
    fn cudaStreamAttachMemAsync(_stream: Handle, _pointer: *mut c_void, _length: usize, _flags: c_uint) { Ok(()) }
    fn cudaCtxResetPersistingL2Cache() { Ok(()) }

    fn cudaStreamBeginCapture(which: Handle, _mode: c_int) { stream::begin_capture(which)?; Ok(()) }
    fn cudaStreamEndCapture(which: Handle, captured: Out<Handle>) {
        stream::end_capture(which)?;
        captured.set(graph::create())
    }
    fn cudaStreamIsCapturing(which: Handle, status: Out<c_int>) {
        status.set(c_int::from(stream::get(which)?.capture.is_some()))
    }
    fn cudaStreamGetCaptureInfo(
        which: Handle, status: Out<c_int>, id: Out<u64>, graph: Out<Handle>, nodes: Out<Handle>, edges: Out<Handle>, count: Out<usize>,
    ) {
        let is_13 = super::is_cuda_13("cudaStreamGetCaptureInfo")?;
        capture_info(which, status, id)?;
        // In CUDA 12 this name has three parameters.
        if is_13 { no_dependencies(graph, nodes, Some(edges), count) }
        Ok(())
    }
    fn cudaStreamGetCaptureInfo_v2(
        which: Handle, status: Out<c_int>, id: Out<u64>, graph: Out<Handle>, nodes: Out<Handle>, count: Out<usize>,
    ) {
        capture_info(which, status, id)?;
        no_dependencies(graph, nodes, None, count);
        Ok(())
    }
    fn cudaStreamGetCaptureInfo_v3(
        which: Handle, status: Out<c_int>, id: Out<u64>, graph: Out<Handle>, nodes: Out<Handle>, edges: Out<Handle>, count: Out<usize>,
    ) {
        capture_info(which, status, id)?;
        no_dependencies(graph, nodes, Some(edges), count);
        Ok(())
    }
}

fn capture_info(which: Handle, status: Out<c_int>, id: Out<u64>) -> Result<(), CudaStatus> {
    let capture = stream::get(which)?.capture;
    status.set::<CudaStatus>(c_int::from(capture.is_some()))?;
    id.set_if_wanted(capture.unwrap_or(0));
    Ok(())
}

/// A capture's work depends on nothing: none of it was noted.
fn no_dependencies(graph: Out<Handle>, nodes: Out<Handle>, edges: Option<Out<Handle>>, count: Out<usize>) {
    graph.set_if_wanted(std::ptr::null_mut());
    nodes.set_if_wanted(std::ptr::null_mut());
    if let Some(edges) = edges {
        edges.set_if_wanted(std::ptr::null_mut());
    }
    count.set_if_wanted(0);
}
