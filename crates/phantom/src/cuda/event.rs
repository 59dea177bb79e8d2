//! Events: done as soon as they are recorded, unless a test holds them back. An event that was recorded in a capture
//! is a point of it (Note [Captures] in `capture.rs`).
//!
//! # Note [Held events]
//!
//! Nothing runs on a phantom, so an event is done at once, and PyTorch's allocator never sees one that is not. Tests of
//! that allocator need some: after [`hold`]`(true)` a recorded event stays pending until the program waits for it, for its
//! stream or for the device, until [`complete`] says so, or until it is recorded again while nothing is held. Work on a
//! stream is done in order, so what ends the wait for an event ends all that the stream recorded before it. In a capture
//! nothing runs on a real GPU either: what is recorded there is never pending.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::capture::{self, Point};
use super::{Code, INVALID_HANDLE, NOT_READY, context, stream};
use crate::handle::{Handle, Table};

#[derive(Debug)]
struct Event {
    /// The device that it was made on.
    device: u32,
    state: EventState,
}

/// What was recorded last.
#[derive(Clone, Debug)]
enum EventState {
    /// Nothing.
    Unrecorded,
    /// Work that is done.
    Done,
    /// Work that a test holds back.
    Pending(Pending),
    /// A point of a capture.
    Captured(Point),
}

/// An event that a test holds back: where it was recorded, and when among all of them.
#[derive(Clone, Copy, Debug)]
struct Pending {
    stream: usize,
    order: u64,
}

static EVENTS: Table<Event> = Table::new();
static HELD: AtomicBool = AtomicBool::new(false);
static RECORDED: AtomicU64 = AtomicU64::new(0);

/// The time between any two events. Not zero: programs divide by it.
const ELAPSED_MS: f32 = 0.01;

/// Makes an event on the calling thread's device.
pub(crate) fn create() -> Handle {
    EVENTS.insert(Event { device: context::current(), state: EventState::Unrecorded })
}

/// Ends an event.
pub(crate) fn destroy(event: Handle) -> Result<(), Code> {
    EVENTS.remove(event).map(|_| ()).ok_or(INVALID_HANDLE)
}

/// Records an event on a stream; in a capture, an external one is a node, and can be waited for outside.
pub(crate) fn record(event: Handle, on: Handle, is_external: bool) -> Result<(), Code> {
    stream::get(on)?;
    state(event)?;
    let recorded = match capture::record(on, is_external)? {
        Some(point) => EventState::Captured(point),
        None if HELD.load(Ordering::Relaxed) => {
            EventState::Pending(Pending { stream: on as usize, order: RECORDED.fetch_add(1, Ordering::Relaxed) })
        }
        None => EventState::Done,
    };
    EVENTS.with(event, |event| event.state = recorded).ok_or(INVALID_HANDLE)
}

/// Makes a stream wait for an event: it joins the capture the event was recorded in.
pub(crate) fn wait(on: Handle, event: Handle, is_external: bool) -> Result<(), Code> {
    stream::get(on)?;
    match state(event)? {
        EventState::Unrecorded => Ok(()),
        EventState::Captured(point) => capture::wait(on, Some(&point), is_external),
        EventState::Done | EventState::Pending(_) => capture::wait(on, None, is_external),
    }
}

fn state(event: Handle) -> Result<EventState, Code> {
    EVENTS.with(event, |event| event.state.clone()).ok_or(INVALID_HANDLE)
}

/// The time between two events. They must be of one device.
pub(crate) fn elapsed_ms(start: Handle, end: Handle) -> Result<f32, Code> {
    let device = |event| EVENTS.with(event, |event| event.device).ok_or(INVALID_HANDLE);
    if device(start)? == device(end)? { Ok(ELAPSED_MS) } else { Err(INVALID_HANDLE) }
}

/// Checks that an event exists.
pub(crate) fn check(event: Handle) -> Result<(), Code> {
    state(event).map(drop)
}

/// The state of an event that the host asks about, which captures may forbid.
fn asked_state(event: Handle) -> Result<EventState, Code> {
    match state(event)? {
        EventState::Captured(point) => Err(capture::refuse_captured(&point)),
        state => capture::forbid_unsafe().map(|()| state),
    }
}

/// Says whether an event is done.
pub(crate) fn query(event: Handle) -> Result<(), Code> {
    match asked_state(event)? {
        EventState::Pending(_) => Err(NOT_READY),
        _ => Ok(()),
    }
}

/// Waits until an event is done.
pub(crate) fn synchronize(event: Handle) -> Result<(), Code> {
    if let EventState::Pending(last) = asked_state(event)? {
        finish(|pending| pending.stream == last.stream && pending.order <= last.order);
    }
    Ok(())
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
    capture::forbid_waiting_for_device(context::current())?;
    complete(None);
    Ok(())
}

/// Begins or ends holding events back; what is pending stays so. See Note [Held events].
pub(crate) fn hold(is_held: bool) {
    HELD.store(is_held, Ordering::Relaxed);
}

/// All that was recorded on `on` is done; `None` = on any stream.
pub(crate) fn complete(on: Option<Handle>) {
    finish(|pending| on.is_none_or(|on| on as usize == pending.stream));
}

fn finish(is_done: impl Fn(Pending) -> bool) {
    EVENTS.for_each(|event| {
        if matches!(event.state, EventState::Pending(pending) if is_done(pending)) {
            event.state = EventState::Done;
        }
    });
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    /// One test, because holding is the process's.
    #[test]
    fn what_is_held_is_pending_until_it_or_a_later_one_of_its_stream_is_waited_for() {
        let streams = [stream::create(0, 0), stream::create(0, 0)];
        let record_on = |on: Handle| {
            let event = create();
            record(event, on, false).unwrap();
            event
        };
        let before = record_on(streams[0]);
        hold(true);
        let [first, second, third] = [(); 3].map(|()| record_on(streams[0]));
        let other = record_on(streams[1]);
        assert_eq!(
            [before, first, second, third, other].map(|event| query(event).is_ok()),
            [true, false, false, false, false]
        );
        synchronize(second).unwrap();
        assert_eq!([first, second, third, other].map(|event| query(event).is_ok()), [true, true, false, false]);
        complete(Some(streams[1]));
        assert_eq!([third, other].map(query), [Err(NOT_READY), Ok(())]);
        hold(false);
        let after = record_on(streams[0]);
        assert_eq!([third, after].map(query), [Err(NOT_READY), Ok(())]);
        complete(None);
        assert_eq!(query(third), Ok(()));
    }
}
