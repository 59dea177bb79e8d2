//! Streams, events and capture through the driver interface.

use std::ffi::{c_int, c_uint, c_void};

use super::DriverStatus;
use crate::boundary::{Out, export};
use crate::cuda::{INVALID_VALUE, context, event, graph, stream};
use crate::handle::Handle;

export! { DriverStatus;
    fn cuStreamCreate(created: Out<Handle>, flags: c_uint) { created.set(stream::create(flags, 0)) }
    fn cuStreamCreateWithPriority(created: Out<Handle>, flags: c_uint, priority: c_int) {
        created.set(stream::create(flags, priority))
    }
    fn cuStreamDestroy_v2(which: Handle) { Ok(stream::destroy(which)?) }
    fn cuStreamQuery(which: Handle) { stream::get(which)?; Ok(()) }
    fn cuStreamSynchronize(which: Handle) {
        stream::get(which)?;
        event::complete(Some(which));
        Ok(())
    }
    fn cuStreamWaitEvent(which: Handle, on: Handle, _flags: c_uint) { Ok(event::wait(which, on)?) }
    fn cuStreamGetPriority(which: Handle, priority: Out<c_int>) { priority.set(stream::get(which)?.priority) }
    fn cuStreamGetFlags(which: Handle, flags: Out<c_uint>) { flags.set(stream::get(which)?.flags) }
    fn cuStreamGetId(which: Handle, id: Out<u64>) { id.set(which as u64) }
    fn cuStreamGetDevice(which: Handle, device: Out<c_int>) { device.set(stream::get(which)?.device as c_int) }
    fn cuStreamGetCtx(which: Handle, found: Out<*mut c_void>) { found.set(context::primary(stream::get(which)?.device)) }
    fn cuStreamIsCapturing(which: Handle, status: Out<c_int>) {
        status.set(c_int::from(stream::get(which)?.capture.is_some()))
    }
    fn cuStreamBeginCapture_v2(which: Handle, _mode: c_int) { stream::begin_capture(which)?; Ok(()) }
    fn cuStreamEndCapture(which: Handle, captured: Out<Handle>) {
        stream::end_capture(which)?;
        captured.set(graph::create())
    }
    fn cuThreadExchangeStreamCaptureMode(mode: Out<c_int>) { mode.set(0) }
    fn cuLaunchHostFunc(which: Handle, callback: Option<stream::Callback>, data: *mut c_void) {
        stream::get(which)?;
        callback.ok_or(INVALID_VALUE)?(data);
        Ok(())
    }
    fn cuEventCreate(created: Out<Handle>, _flags: c_uint) { created.set(event::create()) }
    fn cuEventDestroy_v2(which: Handle) { Ok(event::destroy(which)?) }
    fn cuEventRecord(which: Handle, on: Handle) { Ok(event::record(which, on)?) }
    fn cuEventRecordWithFlags(which: Handle, on: Handle, _flags: c_uint) { Ok(event::record(which, on)?) }
    fn cuEventQuery(which: Handle) { Ok(event::query(which)?) }
    fn cuEventSynchronize(which: Handle) { Ok(event::synchronize(which)?) }
    fn cuEventElapsedTime_v2(milliseconds: Out<f32>, start: Handle, end: Handle) {
        event::check(start)?;
        event::check(end)?;
        milliseconds.set(event::ELAPSED_MS)
    }
    fn cuGraphDestroy(which: Handle) { Ok(graph::destroy(which)?) }
    fn cuGraphInstantiateWithFlags(created: Out<Handle>, which: Handle, _flags: u64) {
        created.set(graph::instantiate(which)?)
    }
    fn cuGraphLaunch(which: Handle, _on: Handle) { Ok(graph::launch(which)?) }
    fn cuGraphExecDestroy(which: Handle) { Ok(graph::destroy_executable(which)?) }
}
