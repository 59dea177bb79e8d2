//! Events: always done. An event that was recorded in a capture carries the capture along.

use super::{Code, INVALID_HANDLE, stream};
use crate::handle::{Handle, Table};

#[derive(Clone, Copy, Debug, Default)]
struct Event {
    capture: Option<u64>,
}

static EVENTS: Table<Event> = Table::new();

/// The time between any two events. Not zero: programs divide by it.
pub const ELAPSED_MS: f32 = 0.01;

/// Makes an event.
pub fn create() -> Handle {
    EVENTS.insert(Event::default())
}

/// Ends an event.
pub fn destroy(event: Handle) -> Result<(), Code> {
    EVENTS.remove(event).map(|_| ()).ok_or(INVALID_HANDLE)
}

/// Records an event on a stream.
pub fn record(event: Handle, on: Handle) -> Result<(), Code> {
    let capture = stream::get(on)?.capture;
    EVENTS.with(event, |event| event.capture = capture).ok_or(INVALID_HANDLE)
}

/// Makes a stream wait for an event: it joins the capture the event was recorded in.
pub fn wait(on: Handle, event: Handle) -> Result<(), Code> {
    match EVENTS.with(event, |event| event.capture).ok_or(INVALID_HANDLE)? {
        Some(capture) => stream::join_capture(on, Some(capture)),
        None => Ok(()),
    }
}

/// Checks that an event exists.
pub fn check(event: Handle) -> Result<(), Code> {
    EVENTS.with(event, |_| ()).ok_or(INVALID_HANDLE)
}
