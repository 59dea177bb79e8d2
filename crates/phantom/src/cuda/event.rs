//! Events: done as soon as they are recorded, unless a test holds them back. An event that was recorded in a capture is
//! a point of the capture (Note [Captures] in `capture.rs`). The rules are methods of the value `Events` in
//! `event/machine.rs`.
//!
//! # Note [Held events]
//!
//! Nothing runs on a phantom, so an event is done at once, and PyTorch's allocator never sees a pending event. Tests of
//! the allocator need pending events: after [`hold`]`(true)` a recorded event stays pending until the program waits for
//! the event, for its stream or for the device, until [`complete`], or until the event is recorded again after
//! `hold(false)`. Work on a stream is done in order, so the end of the wait for an event also completes all earlier
//! records of its stream. In a capture nothing runs on a real GPU either: a captured event is never pending.
//!
//! # Note [Late streams]
//!
//! PyTorch's allocator keeps a freed block that another stream used (`record_stream`) until an event shows that the
//! stream is done. On a phantom the event is done at once: the least memory that a program can hold. With
//! `OOMPH_STREAMS=late` a recorded event is pending, for the allocator alone, until the host waits for the event, for
//! its stream, for a stream that has waited for the event, or for the device: the most memory. A program that polls an
//! event sees it done, since the poll would otherwise never end.

mod machine;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use self::machine::{EventState, Events};
use super::{Code, INVALID_HANDLE, capture, context, stream};
use crate::handle::Handle;
use crate::{caller, journal};

static EVENTS: Events = Events::new();
static ARE_STREAMS_LATE: OnceLock<bool> = OnceLock::new();
/// True once the journal has the note that the allocator waits for side streams.
static IS_NOTED: AtomicBool = AtomicBool::new(false);

/// See Note [Late streams].
fn are_streams_late() -> bool {
    *ARE_STREAMS_LATE.get_or_init(|| std::env::var_os(wire::variable::STREAMS).is_some_and(|value| value == "late"))
}

/// The time between any two events. Not zero: programs divide by it.
const ELAPSED_MS: f32 = 0.01;

/// Makes an event on the calling thread's device.
pub(crate) fn create() -> Handle {
    EVENTS.create(context::current())
}

/// Ends an event.
pub(crate) fn destroy(event: Handle) -> Result<(), Code> {
    EVENTS.destroy(event)
}

/// Records an event on a stream; in a capture, an external one is a node, and can be waited for outside.
pub(crate) fn record(event: Handle, on: Handle, is_external: bool) -> Result<(), Code> {
    stream::get(on)?;
    check(event)?;
    let point = capture::record(on, is_external)?;
    EVENTS.record(event, on as usize, point, are_streams_late())
}

/// Makes a stream wait for an event: it joins the capture the event was recorded in.
pub(crate) fn wait(on: Handle, event: Handle, is_external: bool) -> Result<(), Code> {
    stream::get(on)?;
    match EVENTS.wait(on as usize, event)? {
        EventState::Unrecorded => Ok(()),
        EventState::Captured(point) => capture::wait(on, Some(&point), is_external),
        EventState::Done | EventState::Pending(_) => capture::wait(on, None, is_external),
    }
}

/// The time between two events of one device.
pub(crate) fn elapsed_ms(start: Handle, end: Handle) -> Result<f32, Code> {
    if EVENTS.find_device(start)? == EVENTS.find_device(end)? { Ok(ELAPSED_MS) } else { Err(INVALID_HANDLE) }
}

/// Checks that an event exists.
pub(crate) fn check(event: Handle) -> Result<(), Code> {
    EVENTS.state(event).map(drop)
}

/// The state of an event for a query or wait of the host, which captures may forbid.
fn asked_state(event: Handle) -> Result<EventState, Code> {
    match EVENTS.state(event)? {
        EventState::Captured(point) => Err(capture::refuse_captured(&point)),
        state => capture::forbid_unsafe().map(|()| state),
    }
}

/// Says whether an event is done.
pub(crate) fn query(event: Handle) -> Result<(), Code> {
    let state = asked_state(event)?;
    let is_pending = matches!(state, EventState::Pending(_));
    if !is_pending {
        note_side_stream();
    }
    // The stack is read here and only if needed: the search for the caller ends after a few frames.
    let is_allocators = is_pending && are_streams_late() && caller::is_pytorchs_allocator();
    EVENTS.query(&state, are_streams_late(), is_allocators)
}

/// Notes once that PyTorch's allocator waits for another stream before reusing a block.
fn note_side_stream() {
    if !are_streams_late() && !IS_NOTED.load(Ordering::Relaxed) && caller::is_pytorchs_allocator() {
        IS_NOTED.store(true, Ordering::Relaxed);
        journal::record_assumption(
            wire::record::SIDE_STREAMS,
            "blocks that a side stream used are taken to be free at once",
            0,
        );
    }
}

/// Waits until an event is done.
pub(crate) fn synchronize(event: Handle) -> Result<(), Code> {
    asked_state(event).map(|state| EVENTS.synchronize(&state))
}

/// Says whether the work of a stream is done; it always is.
pub(crate) fn query_stream(on: Handle) -> Result<(), Code> {
    stream::get(on)?;
    capture::forbid_waiting_for(on)
}

/// Waits until the work of a stream is done.
pub(crate) fn synchronize_stream(on: Handle) -> Result<(), Code> {
    query_stream(on)?;
    complete(Some(on));
    Ok(())
}

/// Waits until the work of the calling thread's device is done.
pub(crate) fn synchronize_device() -> Result<(), Code> {
    capture::forbid_waiting_for_device()?;
    complete(None);
    Ok(())
}

/// Begins or ends holding events back; pending events stay pending. See Note [Held events].
pub(crate) fn hold(is_held: bool) {
    EVENTS.hold(is_held);
}

/// All that was recorded on `on` is done; `None` = on any stream.
pub(crate) fn complete(on: Option<Handle>) {
    EVENTS.complete(on.map(|on| on as usize));
}
