//! Streams, and callbacks after their work: called at once.

use std::ffi::{c_int, c_uint, c_void};

use super::CudaStatus;
use crate::boundary::{Out, export};
use crate::cuda::{INVALID_VALUE, capture, event, stream};
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
    fn cudaStreamQuery(which: Handle) { Ok(event::query_stream(which)?) }
    fn cudaStreamSynchronize(which: Handle) { Ok(event::synchronize_stream(which)?) }
    fn cudaStreamGetPriority(which: Handle, priority: Out<c_int>) { priority.set(stream::get(which)?.priority) }
    fn cudaStreamGetFlags(which: Handle, flags: Out<c_uint>) { flags.set(stream::get(which)?.flags) }
    fn cudaStreamGetId(which: Handle, id: Out<u64>) { id.set(which as u64) }
    fn cudaStreamGetDevice(which: Handle, device: Out<c_int>) { device.set(stream::get(which)?.device as c_int) }
    fn cudaStreamAddCallback(which: Handle, callback: Option<StreamCallback>, data: *mut c_void, _flags: c_uint) {
        stream::get(which)?;
        capture::forbid_on(which)?; // "not supported" in a capture, unlike `cudaLaunchHostFunc`
        callback.ok_or(INVALID_VALUE)?(which, CudaStatus(0), data);
        Ok(())
    }
    fn cudaStreamAttachMemAsync(_stream: Handle, _pointer: *mut c_void, _length: usize, _flags: c_uint) { Ok(()) }
    fn cudaCtxResetPersistingL2Cache() { Ok(()) }
}
