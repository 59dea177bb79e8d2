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
//! What is not known is allowed: the size of the list of functions that are "potentially unsafe" is NVIDIA's.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::graph::{self, NodeId, Work};
use super::{
    CAPTURE_IMPLICIT, CAPTURE_INVALIDATED, CAPTURE_ISOLATION, CAPTURE_MERGE, CAPTURE_UNJOINED, CAPTURE_UNMATCHED,
    CAPTURE_UNSUPPORTED, CAPTURE_WRONG_THREAD, CAPTURED_EVENT, Code, ILLEGAL_STATE, INVALID_VALUE, context, stream,
};
use crate::handle::Handle;

/// `cudaStreamCaptureMode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Forbids unsafe calls of its thread, and of every thread in global mode.
    Global,
    /// Forbids unsafe calls of its thread.
    ThreadLocal,
    /// Forbids no unsafe call.
    Relaxed,
}

impl Mode {
    /// The mode of a number of the header.
    pub(crate) fn from_number(number: i32) -> Result<Mode, Code> {
        match number {
            0 => Ok(Mode::Global),
            1 => Ok(Mode::ThreadLocal),
            2 => Ok(Mode::Relaxed),
            _ => Err(INVALID_VALUE),
        }
    }
}

/// A capture's number, unique in the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CaptureId(pub(crate) u64);

/// The position of an event in a capture: the stream's last nodes.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    capture: CaptureId,
    last: Vec<NodeId>,
}

/// A stream's capture status.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Status {
    /// Not capturing.
    None,
    /// Capturing: work becomes nodes.
    Active {
        /// The capture.
        id: CaptureId,
        /// The handle of its graph.
        graph: usize,
        /// The stream's last nodes: valid until the next call on the stream, as CUDA's are.
        last: *const NodeId,
        /// The number of nodes.
        count: usize,
    },
    /// Part of an invalidated capture.
    Invalidated,
}

impl Status {
    /// Its `cudaStreamCaptureStatus`.
    pub(crate) fn number(self) -> i32 {
        match self {
            Status::None => 0,
            Status::Active { .. } => 1,
            Status::Invalidated => 2,
        }
    }
}

/// A stream, by its handle as a number.
type StreamKey = usize;

struct Capture {
    id: CaptureId,
    origin: StreamKey,
    thread: u64,
    mode: Mode,
    graph: usize,
    is_valid: bool,
    /// Its streams, and the last nodes of each.
    streams: BTreeMap<StreamKey, Vec<NodeId>>,
    /// Nodes that the program removed from a stream's last nodes: later work need not wait for them.
    released: Vec<NodeId>,
}

/// The number of captures under way.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);
static CAPTURES: Mutex<Vec<Capture>> = Mutex::new(Vec::new());
static NEXT_ID: AtomicU64 = AtomicU64::new(1);
static NEXT_THREAD: AtomicU64 = AtomicU64::new(1);

thread_local! {
    static MODE: Cell<Mode> = const { Cell::new(Mode::Global) };
    static THREAD: u64 = NEXT_THREAD.fetch_add(1, Ordering::Relaxed);
}

/// True if a capture is under way.
pub(crate) fn is_any_under_way() -> bool {
    UNDER_WAY.load(Ordering::Acquire) > 0
}

fn lock() -> MutexGuard<'static, Vec<Capture>> {
    CAPTURES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn this_thread() -> u64 {
    THREAD.with(|thread| *thread)
}

fn capture_of(captures: &mut [Capture], on: StreamKey) -> Option<&mut Capture> {
    captures.iter_mut().find(|capture| capture.streams.contains_key(&on))
}

/// Invalidates the captures that forbid something; fails with `code` if any does.
fn refuse(captures: &mut [Capture], code: Code, forbids: impl Fn(&Capture) -> bool) -> Result<(), Code> {
    let mut result = Ok(());
    for capture in captures.iter_mut().filter(|capture| capture.is_valid && forbids(capture)) {
        capture.is_valid = false;
        result = Err(code);
    }
    result
}

/// True if a capture has a stream of the calling thread's device.
fn is_on_device(capture: &Capture) -> bool {
    let device = context::current();
    capture.streams.keys().any(|stream| stream::get(*stream as Handle).is_ok_and(|stream| stream.device == device))
}

/// True if a capture has a stream for which the legacy stream of the calling thread's device waits implicitly.
fn has_blocking_stream(capture: &Capture) -> bool {
    is_on_device(capture) && capture.streams.keys().any(|stream| stream::is_blocking(*stream as Handle))
}

/// Sets the calling thread's mode and returns the previous mode.
pub(crate) fn exchange_mode(mode: Mode) -> Mode {
    MODE.replace(mode)
}

/// Begins a capture.
pub(crate) fn begin(on: Handle, mode: Mode) -> Result<(), Code> {
    stream::get(on)?;
    if stream::is_legacy(on) {
        return Err(CAPTURE_UNSUPPORTED);
    }
    let mut captures = lock();
    if capture_of(&mut captures, on as StreamKey).is_some() {
        return Err(ILLEGAL_STATE);
    }
    captures.push(Capture {
        id: CaptureId(NEXT_ID.fetch_add(1, Ordering::Relaxed)),
        origin: on as StreamKey,
        thread: this_thread(),
        mode,
        graph: graph::create() as usize,
        is_valid: true,
        streams: BTreeMap::from([(on as StreamKey, Vec::new())]),
        released: Vec::new(),
    });
    UNDER_WAY.store(captures.len(), Ordering::Release);
    Ok(())
}

/// Ends the capture that began on a stream and returns its graph. Its streams are free again even if the end fails,
/// except after a call on another stream or by the wrong thread.
pub(crate) fn end(on: Handle) -> Result<Handle, Code> {
    stream::get(on)?;
    let mut captures = lock();
    let found = captures.iter().position(|capture| capture.streams.contains_key(&(on as StreamKey)));
    let index = found.ok_or(ILLEGAL_STATE)?;
    if captures[index].origin != on as StreamKey {
        return Err(CAPTURE_UNMATCHED);
    }
    if captures[index].mode != Mode::Relaxed && captures[index].thread != this_thread() {
        return Err(CAPTURE_WRONG_THREAD);
    }
    let capture = captures.swap_remove(index);
    UNDER_WAY.store(captures.len(), Ordering::Release);
    let graph = capture.graph as Handle;
    let result = check_end(&capture);
    if result.is_err() {
        graph::destroy(graph)?;
    }
    result.map(|()| graph)
}

fn check_end(capture: &Capture) -> Result<(), Code> {
    if !capture.is_valid {
        return Err(CAPTURE_INVALIDATED);
    }
    let last = capture.streams.get(&capture.origin).cloned().unwrap_or_default();
    if graph::ends_in(capture.graph as Handle, &[last, capture.released.clone()].concat())? {
        Ok(())
    } else {
        Err(CAPTURE_UNJOINED)
    }
}

/// A stream's capture status.
pub(crate) fn status_of(on: Handle) -> Result<Status, Code> {
    stream::get(on)?;
    if !is_any_under_way() {
        return Ok(Status::None);
    }
    let mut captures = lock();
    if stream::is_legacy(on) && captures.iter().any(|capture| capture.is_valid && has_blocking_stream(capture)) {
        return Err(CAPTURE_IMPLICIT);
    }
    let Some(capture) = capture_of(&mut captures, on as StreamKey) else { return Ok(Status::None) };
    let last = capture.streams.get(&(on as StreamKey)).map_or(&[][..], Vec::as_slice);
    let active = Status::Active { id: capture.id, graph: capture.graph, last: last.as_ptr(), count: last.len() };
    Ok(if capture.is_valid { active } else { Status::Invalidated })
}

/// Notes work on a stream as a node of its capture; returns false for a stream without a capture.
pub(crate) fn note(on: Handle, work: Work) -> Result<bool, Code> {
    if !is_any_under_way() {
        return Ok(false);
    }
    let mut captures = lock();
    if stream::is_legacy(on) {
        return refuse(&mut captures, CAPTURE_IMPLICIT, has_blocking_stream).map(|()| false);
    }
    let Some(capture) = capture_of(&mut captures, on as StreamKey) else { return Ok(false) };
    if !capture.is_valid {
        return Err(CAPTURE_INVALIDATED);
    }
    let Some(last) = capture.streams.get_mut(&(on as StreamKey)) else { return Ok(false) };
    *last = vec![graph::add(capture.graph as Handle, work, last)?];
    Ok(true)
}

/// Notes that an event is recorded on a stream: the point of a capture, if the stream takes part in one.
pub(crate) fn record(on: Handle, is_external: bool) -> Result<Option<Point>, Code> {
    if !is_any_under_way() {
        return Ok(None);
    }
    if is_external || stream::is_legacy(on) {
        return note(on, Work::RecordEvent).map(|_| None);
    }
    let mut captures = lock();
    let Some(capture) = capture_of(&mut captures, on as StreamKey) else { return Ok(None) };
    if !capture.is_valid {
        return Err(CAPTURE_INVALIDATED);
    }
    let last = capture.streams.get(&(on as StreamKey)).cloned().unwrap_or_default();
    Ok(Some(Point { capture: capture.id, last }))
}

/// Makes a stream wait for an event: for a point of a capture, or for work that was not captured (`None`).
pub(crate) fn wait(on: Handle, point: Option<&Point>, is_external: bool) -> Result<(), Code> {
    if !is_any_under_way() {
        return Ok(());
    }
    if is_external && point.is_none() {
        return note(on, Work::WaitEvent).map(drop);
    }
    let mut captures = lock();
    let waits_in = capture_of(&mut captures, on as StreamKey).map(|capture| (capture.id, capture.is_valid));
    let recorded_in = point.and_then(|point| captures.iter().find(|capture| capture.id == point.capture));
    let recorded_in = recorded_in.map(|capture| (capture.id, capture.is_valid));
    match (waits_in, recorded_in) {
        (None, None) => Ok(()),
        (Some((_, false)), _) | (_, Some((_, false))) => Err(CAPTURE_INVALIDATED),
        // An event of an ended capture: CUDA's answer is unknown.
        (Some(_), None) if point.is_some() => Ok(()),
        (Some((id, _)), None) => refuse(&mut captures, CAPTURE_ISOLATION, |capture| capture.id == id),
        (Some((one, _)), Some((other, _))) if one != other => {
            refuse(&mut captures, CAPTURE_MERGE, |capture| capture.id == one || capture.id == other)
        }
        (None, Some((id, _))) if stream::is_legacy(on) => {
            refuse(&mut captures, CAPTURE_IMPLICIT, |capture| capture.id == id)
        }
        (_, Some((id, _))) => {
            let after = point.map_or(&[][..], |point| &point.last);
            let capture = captures.iter_mut().find(|capture| capture.id == id).ok_or(INVALID_VALUE)?;
            let last = capture.streams.entry(on as StreamKey).or_default();
            last.extend(after.iter().filter(|node| !last.contains(node)).copied().collect::<Vec<_>>());
            Ok(())
        }
    }
}

/// Replaces the last nodes of a stream, or adds to them.
pub(crate) fn update_last(on: Handle, nodes: &[NodeId], replaces: bool) -> Result<(), Code> {
    let mut captures = lock();
    let capture = capture_of(&mut captures, on as StreamKey).ok_or(ILLEGAL_STATE)?;
    if !capture.is_valid {
        return Err(CAPTURE_INVALIDATED);
    }
    let last = capture.streams.entry(on as StreamKey).or_default();
    if replaces {
        capture.released.append(last);
    }
    last.extend(nodes);
    Ok(())
}

/// Refuses a call that is potentially unsafe. See Note [Captures].
pub(crate) fn forbid_unsafe() -> Result<(), Code> {
    let mode = MODE.get();
    if !is_any_under_way() || mode == Mode::Relaxed {
        return Ok(());
    }
    refuse(&mut lock(), CAPTURE_UNSUPPORTED, |capture| {
        let is_own = capture.thread == this_thread() && capture.mode != Mode::Relaxed;
        is_on_device(capture) && (is_own || (mode == Mode::Global && capture.mode == Mode::Global))
    })
}

/// Refuses what cannot be captured on a stream: a callback, or the launch of a graph.
pub(crate) fn forbid_on(on: Handle) -> Result<(), Code> {
    if !is_any_under_way() {
        return Ok(());
    }
    let mut captures = lock();
    if stream::is_legacy(on) {
        return refuse(&mut captures, CAPTURE_IMPLICIT, has_blocking_stream);
    }
    if capture_of(&mut captures, on as StreamKey).is_some_and(|capture| !capture.is_valid) {
        return Err(CAPTURE_INVALIDATED);
    }
    refuse(&mut captures, CAPTURE_UNSUPPORTED, |capture| capture.streams.contains_key(&(on as StreamKey)))
}

/// Refuses to wait for a stream, or to ask whether it is done.
pub(crate) fn forbid_waiting_for(on: Handle) -> Result<(), Code> {
    forbid_on(on)?;
    forbid_unsafe()
}

/// Refuses to wait for the calling thread's device while a stream of the device is captured.
pub(crate) fn forbid_waiting_for_device() -> Result<(), Code> {
    if is_any_under_way() { refuse(&mut lock(), CAPTURE_UNSUPPORTED, is_on_device) } else { Ok(()) }
}

/// Refuses to wait for an event that was recorded in a capture, or to query the event: a captured event never
/// completes.
pub(crate) fn refuse_captured(point: &Point) -> Code {
    let _is_over = refuse(&mut lock(), CAPTURED_EVENT, |capture| capture.id == point.capture);
    CAPTURED_EVENT
}
