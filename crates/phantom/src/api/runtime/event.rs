//! Events.

use std::ffi::c_uint;

use super::CudaStatus;
use crate::api::captured::EXTERNAL;
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
    fn cudaEventRecord(which: Handle, stream: Handle) { Ok(event::record(which, stream, false)?) }
    fn cudaEventRecordWithFlags(which: Handle, stream: Handle, flags: c_uint) {
        Ok(event::record(which, stream, flags & EXTERNAL != 0)?)
    }
    fn cudaEventQuery(which: Handle) { Ok(event::query(which)?) }
    fn cudaEventSynchronize(which: Handle) { Ok(event::synchronize(which)?) }
    fn cudaEventElapsedTime(milliseconds: Out<f32>, start: Handle, end: Handle) {
        milliseconds.set(event::elapsed_ms(start, end)?)
    }
    fn cudaStreamWaitEvent(stream: Handle, which: Handle, flags: c_uint) {
        Ok(event::wait(stream, which, flags & EXTERNAL != 0)?)
    }
    fn cudaIpcGetEventHandle(handle: Out<IpcHandle>, which: Handle) {
        event::check(which)?;
        handle.set(IpcHandle([0; 64]))
    }
    fn cudaIpcOpenEventHandle(created: Out<Handle>, _handle: IpcHandle) { created.set(event::create()) }
}
