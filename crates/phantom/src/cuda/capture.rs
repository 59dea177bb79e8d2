//! Captures: the streams that take part, the recorded nodes, the calls that are forbidden meanwhile, and the end of a
//! capture.
//!
//! # Note [Captures]
//!
//! A capture begins on one stream, its origin. Another stream joins by waiting for an event that was recorded in the
//! capture, and the origin must wait for that stream before the end. Work on a stream of the capture is a node that
//! depends on the stream's last nodes. Outside a capture nothing is noted, and a call costs the read of a counter.
//!
//! What is forbidden, from "CUDA C++ Programming Guide" (Prohibited and Unhandled Operations) and the comments of
//! `cudaThreadExchangeStreamCaptureMode` (CUDA 13.0, cuda_runtime_api.h):
//! - To query or to wait for a stream that is captured, an event that was recorded in a capture, or a device with such a stream.
//! - Unsafe calls outside of streams, as `cudaMalloc`: in a thread with a capture of its own that did not begin as
//!   relaxed, and beside a global capture of another thread. A thread in relaxed mode may call them: PyTorch allocates
//!   in that mode.
//! - Waiting for uncaptured work, for work of another capture, or for captured work on the legacy stream.
//!
//! All of this is about captures on the calling thread's device (recorded on two RTX PRO 4000: ROCm/rocm-systems, pull request 4508).
//!
//! A forbidden call invalidates the captures that forbid it: their streams refuse work until the capture is ended, and
//! the end returns no graph. `tests/captures` has the cases, with recordings of a GPU.
//!
//! The state of all captures is the value `Captures` in `capture/machine.rs`, whose tests are tables of calls. The functions here
//! lock the value of the process, call, and do the returned task in `graph.rs`.
//!
//! What is not known is allowed: the size of the list of functions that are "potentially unsafe" is NVIDIA's.

mod machine;
#[cfg(test)]
mod tests;
mod types;

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use self::machine::Captures;
use self::types::{CallingThread, CaptureEffect, EndedCapture};
pub(crate) use self::types::{Mode, Point, Status};
use super::graph::{self, NodeId, Work};
use super::{CAPTURE_UNJOINED, Code, context, stream};
use crate::handle::Handle;

/// The number of captures under way.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);
static CAPTURES: Mutex<Captures> = Mutex::new(Captures::new());
static NEXT_THREAD: AtomicU64 = AtomicU64::new(1);

thread_local! {
    static MODE: Cell<Mode> = const { Cell::new(Mode::Global) };
    static THREAD: u64 = NEXT_THREAD.fetch_add(1, Ordering::Relaxed);
}

/// True if a capture is under way.
pub(crate) fn is_any_under_way() -> bool {
    UNDER_WAY.load(Ordering::Acquire) > 0
}

fn lock() -> MutexGuard<'static, Captures> {
    CAPTURES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn this_thread() -> CallingThread {
    CallingThread {
        number: THREAD.with(|number| *number),
        mode: MODE.get(),
        device: context::current(),
        find_stream: |key| stream::get(key as Handle).ok(),
    }
}

/// Adds the node that an effect asks for, if any; returns false without one.
fn add_node(effect: CaptureEffect<'_>, work: Work) -> Result<bool, Code> {
    let CaptureEffect::AddNode { graph, last } = effect else { return Ok(false) };
    *last = vec![graph::add(graph as Handle, work, last)?];
    Ok(true)
}

/// The graph of an ended capture; the graph is destroyed if the program does not get it.
fn take_graph(ended: EndedCapture) -> Result<Handle, Code> {
    let graph = ended.graph as Handle;
    let result = ended.last.and_then(|last| graph::ends_in(graph, &last));
    let result = result.and_then(|is_joined| if is_joined { Ok(graph) } else { Err(CAPTURE_UNJOINED) });
    if result.is_err() {
        graph::destroy(graph)?;
    }
    result
}

/// Sets the calling thread's mode and returns the previous mode.
pub(crate) fn exchange_mode(mode: Mode) -> Mode {
    MODE.replace(mode)
}

/// Begins a capture.
pub(crate) fn begin(on: Handle, mode: Mode) -> Result<(), Code> {
    stream::get(on)?;
    let mut captures = lock();
    captures.begin(&this_thread(), on as usize, mode, || graph::create() as usize)?;
    UNDER_WAY.store(captures.count(), Ordering::Release);
    Ok(())
}

/// Ends the capture that began on a stream and returns its graph. Its streams are free again even if the end fails,
/// except after a call on another stream or by the wrong thread.
pub(crate) fn end(on: Handle) -> Result<Handle, Code> {
    stream::get(on)?;
    let mut captures = lock();
    let ended = captures.end(&this_thread(), on as usize)?;
    UNDER_WAY.store(captures.count(), Ordering::Release);
    take_graph(ended)
}

/// A stream's capture status.
pub(crate) fn status_of(on: Handle) -> Result<Status, Code> {
    stream::get(on)?;
    if !is_any_under_way() {
        return Ok(Status::None);
    }
    lock().status_of(&this_thread(), on as usize)
}

/// Notes work on a stream as a node of its capture; returns false for a stream without a capture.
pub(crate) fn note(on: Handle, work: Work) -> Result<bool, Code> {
    if !is_any_under_way() {
        return Ok(false);
    }
    add_node(lock().note(&this_thread(), on as usize)?, work)
}

/// Notes that an event is recorded on a stream: the point of a capture, if the stream takes part in one.
pub(crate) fn record(on: Handle, is_external: bool) -> Result<Option<Point>, Code> {
    if !is_any_under_way() {
        return Ok(None);
    }
    match lock().record(&this_thread(), on as usize, is_external)? {
        CaptureEffect::MarkEvent(point) => Ok(Some(point)),
        effect => add_node(effect, Work::RecordEvent).map(|_| None),
    }
}

/// Makes a stream wait for an event: for a point of a capture, or for work that was not captured (`None`).
pub(crate) fn wait(on: Handle, point: Option<&Point>, is_external: bool) -> Result<(), Code> {
    if !is_any_under_way() {
        return Ok(());
    }
    add_node(lock().wait(&this_thread(), on as usize, point, is_external)?, Work::WaitEvent).map(drop)
}

/// Replaces the last nodes of a stream, or adds to them.
pub(crate) fn update_last(on: Handle, nodes: &[NodeId], replaces: bool) -> Result<(), Code> {
    lock().update_last(on as usize, nodes, replaces)
}

/// Refuses a call that is potentially unsafe. See Note [Captures].
pub(crate) fn forbid_unsafe() -> Result<(), Code> {
    if is_any_under_way() { lock().forbid_unsafe(&this_thread()) } else { Ok(()) }
}

/// Refuses what cannot be captured on a stream: a callback, or the launch of a graph.
pub(crate) fn forbid_on(on: Handle) -> Result<(), Code> {
    if is_any_under_way() { lock().forbid_on(&this_thread(), on as usize) } else { Ok(()) }
}

/// Refuses to wait for a stream, or to ask whether it is done.
pub(crate) fn forbid_waiting_for(on: Handle) -> Result<(), Code> {
    if is_any_under_way() { lock().forbid_waiting_for(&this_thread(), on as usize) } else { Ok(()) }
}

/// Refuses to wait for the calling thread's device while a stream of the device is captured.
pub(crate) fn forbid_waiting_for_device() -> Result<(), Code> {
    if is_any_under_way() { lock().forbid_waiting_for_device(&this_thread()) } else { Ok(()) }
}

/// Refuses to wait for an event that was recorded in a capture, or to query the event: a captured event never
/// completes.
pub(crate) fn refuse_captured(point: &Point) -> Code {
    lock().refuse_captured(point)
}
