//! Events: done as soon as they are recorded, unless a test holds them back. An event that was recorded in a capture
//! carries the capture along.
//!
//! # Note [Held events]
//!
//! Nothing runs on a phantom, so an event is done at once, and PyTorch's allocator never sees one that is not. Tests of
//! that allocator need some: after [`hold`]`(true)` a recorded event stays pending until the program waits for it, for its
//! stream or for the device, until [`complete`] says so, or until it is recorded again while nothing is held. Work on a
//! stream is done in order, so what ends the wait for an event ends all that the stream recorded before it. In a capture
//! nothing runs on a real GPU either: what is recorded there is never pending.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::{Code, INVALID_HANDLE, NOT_READY, stream};
use crate::handle::{Handle, Table};

#[derive(Clone, Copy, Debug, Default)]
struct Event {
    capture: Option<u64>,
    pending: Option<Pending>,
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
pub(crate) const ELAPSED_MS: f32 = 0.01;

/// Makes an event.
pub(crate) fn create() -> Handle {
    EVENTS.insert(Event::default())
}

/// Ends an event.
pub(crate) fn destroy(event: Handle) -> Result<(), Code> {
    EVENTS.remove(event).map(|_| ()).ok_or(INVALID_HANDLE)
}

/// Records an event on a stream.
pub(crate) fn record(event: Handle, on: Handle) -> Result<(), Code> {
    let capture = stream::get(on)?.capture;
    let is_pending = capture.is_none() && HELD.load(Ordering::Relaxed);
    let pending = is_pending.then(|| Pending { stream: on as usize, order: RECORDED.fetch_add(1, Ordering::Relaxed) });
    EVENTS.with(event, |event| *event = Event { capture, pending }).ok_or(INVALID_HANDLE)
}

/// Makes a stream wait for an event: it joins the capture the event was recorded in.
pub(crate) fn wait(on: Handle, event: Handle) -> Result<(), Code> {
    match EVENTS.with(event, |event| event.capture).ok_or(INVALID_HANDLE)? {
        Some(capture) => stream::join_capture(on, Some(capture)),
        None => Ok(()),
    }
}

/// Checks that an event exists.
pub(crate) fn check(event: Handle) -> Result<(), Code> {
    EVENTS.with(event, |_| ()).ok_or(INVALID_HANDLE)
}

/// Says whether an event is done.
pub(crate) fn query(event: Handle) -> Result<(), Code> {
    match EVENTS.with(event, |event| event.pending).ok_or(INVALID_HANDLE)? {
        Some(_) => Err(NOT_READY),
        None => Ok(()),
    }
}

/// Waits until an event is done.
pub(crate) fn synchronize(event: Handle) -> Result<(), Code> {
    if let Some(last) = EVENTS.with(event, |event| event.pending).ok_or(INVALID_HANDLE)? {
        finish(|pending| pending.stream == last.stream && pending.order <= last.order);
    }
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
        if event.pending.is_some_and(&is_done) {
            event.pending = None;
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
            record(event, on).unwrap();
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
