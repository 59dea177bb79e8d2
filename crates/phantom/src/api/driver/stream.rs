//! Streams and events through the driver interface.

use std::ffi::{c_int, c_uint, c_void};

use super::DriverStatus;
use crate::api::captured::EXTERNAL;
use crate::boundary::{Out, export};
use crate::cuda::{context, event, stream};
use crate::handle::Handle;

export! { DriverStatus;
    fn cuStreamCreate(created: Out<Handle>, flags: c_uint) { created.set(stream::create(flags, 0)) }
    fn cuStreamCreateWithPriority(created: Out<Handle>, flags: c_uint, priority: c_int) {
        created.set(stream::create(flags, priority))
    }
    fn cuStreamDestroy_v2(which: Handle) { Ok(stream::destroy(which)?) }
    fn cuStreamQuery(which: Handle) { Ok(event::query_stream(which)?) }
    fn cuStreamSynchronize(which: Handle) { Ok(event::synchronize_stream(which)?) }
    fn cuStreamWaitEvent(which: Handle, on: Handle, flags: c_uint) { Ok(event::wait(which, on, flags & EXTERNAL != 0)?) }
    fn cuStreamGetPriority(which: Handle, priority: Out<c_int>) { priority.set(stream::get(which)?.priority) }
    fn cuStreamGetFlags(which: Handle, flags: Out<c_uint>) { flags.set(stream::get(which)?.flags) }
    fn cuStreamGetId(which: Handle, id: Out<u64>) { id.set(which as u64) }
    fn cuStreamGetDevice(which: Handle, device: Out<c_int>) { device.set(stream::get(which)?.device as c_int) }
    fn cuStreamGetCtx(which: Handle, found: Out<*mut c_void>) { found.set(context::primary(stream::get(which)?.device)) }
    fn cuEventCreate(created: Out<Handle>, _flags: c_uint) { created.set(event::create()) }
    fn cuEventDestroy_v2(which: Handle) { Ok(event::destroy(which)?) }
    fn cuEventRecord(which: Handle, on: Handle) { Ok(event::record(which, on, false)?) }
    fn cuEventRecordWithFlags(which: Handle, on: Handle, flags: c_uint) {
        Ok(event::record(which, on, flags & EXTERNAL != 0)?)
    }
    fn cuEventQuery(which: Handle) { Ok(event::query(which)?) }
    fn cuEventSynchronize(which: Handle) { Ok(event::synchronize(which)?) }
    fn cuEventElapsedTime_v2(milliseconds: Out<f32>, start: Handle, end: Handle) {
        milliseconds.set(event::elapsed_ms(start, end)?)
    }
}
