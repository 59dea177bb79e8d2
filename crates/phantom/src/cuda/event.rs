//! Events: done as soon as they are recorded, unless a test holds them back. An event that was recorded in a capture is
//! a point of the capture (Note [Captures] in `capture.rs`).
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

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::capture::{self, Point};
use super::order::{self, Recorded};
use super::{Code, INVALID_HANDLE, NOT_READY, context, stream};
use crate::handle::{Handle, Table};
use crate::{caller, journal};

#[derive(Debug)]
struct Event {
    /// The device of its creation.
    device: u32,
    state: EventState,
}

/// The state of the last record.
#[derive(Clone, Debug)]
enum EventState {
    /// Nothing.
    Unrecorded,
    /// Completed work.
    Done,
    /// Work that is not done yet.
    Pending(Recorded),
    /// A point of a capture.
    Captured(Point),
}

static EVENTS: Table<Event> = Table::new();
static HELD: AtomicBool = AtomicBool::new(false);
static RECORDED: AtomicU64 = AtomicU64::new(1);
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
        None if HELD.load(Ordering::Relaxed) || are_streams_late() => {
            EventState::Pending(order::record(on as usize, RECORDED.fetch_add(1, Ordering::Relaxed)))
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
        EventState::Done => capture::wait(on, None, is_external),
        EventState::Pending(recorded) => {
            order::wait(on as usize, &recorded);
            capture::wait(on, None, is_external)
        }
    }
}

fn state(event: Handle) -> Result<EventState, Code> {
    EVENTS.with(event, |event| event.state.clone()).ok_or(INVALID_HANDLE)
}

/// The time between two events of one device.
pub(crate) fn elapsed_ms(start: Handle, end: Handle) -> Result<f32, Code> {
    let device = |event| EVENTS.with(event, |event| event.device).ok_or(INVALID_HANDLE);
    if device(start)? == device(end)? { Ok(ELAPSED_MS) } else { Err(INVALID_HANDLE) }
}

/// Checks that an event exists.
pub(crate) fn check(event: Handle) -> Result<(), Code> {
    state(event).map(drop)
}

/// The state of an event for a query or wait of the host, which captures may forbid.
fn asked_state(event: Handle) -> Result<EventState, Code> {
    match state(event)? {
        EventState::Captured(point) => Err(capture::refuse_captured(&point)),
        state => capture::forbid_unsafe().map(|()| state),
    }
}

/// Says whether an event is done.
pub(crate) fn query(event: Handle) -> Result<(), Code> {
    match asked_state(event)? {
        EventState::Pending(_) if !are_streams_late() || caller::is_pytorchs_allocator() => Err(NOT_READY),
        EventState::Pending(last) => {
            finish(|recorded| order::is_done_with(recorded, &last));
            Ok(())
        }
        _ => {
            note_side_stream();
            Ok(())
        }
    }
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
    if let EventState::Pending(last) = asked_state(event)? {
        finish(|recorded| order::is_done_with(recorded, &last));
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
    capture::forbid_waiting_for_device()?;
    complete(None);
    Ok(())
}

/// Begins or ends holding events back; pending events stay pending. See Note [Held events].
pub(crate) fn hold(is_held: bool) {
    HELD.store(is_held, Ordering::Relaxed);
}

/// All that was recorded on `on` is done; `None` = on any stream.
pub(crate) fn complete(on: Option<Handle>) {
    finish(|recorded| on.is_none_or(|on| order::is_done_with_stream(recorded, on as usize)));
}

fn finish(is_done: impl Fn(&Recorded) -> bool) {
    EVENTS.for_each(|event| {
        if matches!(&event.state, EventState::Pending(recorded) if is_done(recorded)) {
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
