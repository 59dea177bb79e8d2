//! Events.

use std::ffi::{c_int, c_uint};

use super::CudaStatus;
use crate::boundary::{Out, export};
use crate::cuda::event;
use crate::handle::Handle;

/// `cudaIpcEventHandle_t` and `cudaIpcMemHandle_t`: 64 bytes that mean something to us alone.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpcHandle(pub [u8; 64]);

export! { CudaStatus;
    fn cudaEventCreate(created: Out<Handle>) { created.set(event::create()) }
    fn cudaEventCreateWithFlags(created: Out<Handle>, _flags: c_uint) { created.set(event::create()) }
    fn cudaEventDestroy(which: Handle) { Ok(event::destroy(which)?) }
    fn cudaEventRecord(which: Handle, stream: Handle) { Ok(event::record(which, stream)?) }
    fn cudaEventRecordWithFlags(which: Handle, stream: Handle, _flags: c_uint) { Ok(event::record(which, stream)?) }
    fn cudaEventQuery(which: Handle) { Ok(event::query(which)?) }
    fn cudaEventSynchronize(which: Handle) { Ok(event::synchronize(which)?) }
    fn cudaEventElapsedTime(milliseconds: Out<f32>, start: Handle, end: Handle) {
        event::check(start)?;
        event::check(end)?;
        milliseconds.set(event::ELAPSED_MS)
    }
    fn cudaStreamWaitEvent(stream: Handle, which: Handle, _flags: c_uint) { Ok(event::wait(stream, which)?) }
    fn cudaIpcGetEventHandle(handle: Out<IpcHandle>, which: Handle) {
        event::check(which)?;
        handle.set(IpcHandle([0; 64]))
    }
    fn cudaIpcOpenEventHandle(created: Out<Handle>, _handle: IpcHandle) { created.set(event::create()) }
    fn cudaThreadExchangeStreamCaptureMode(mode: Out<c_int>) {
        let _given: c_int = mode.get::<CudaStatus>()?;
        mode.set(0)
    }
}
