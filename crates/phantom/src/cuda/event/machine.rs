//! The events of a process, or of a test, as a value. The rules are those of Notes `[Held events]` and `[Late streams]` in
//! `event.rs`.
//!
//! The value has its locks inside: an event is found under the lock of its table only.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::cuda::capture::Point;
use crate::cuda::order::{Recorded, StreamKey, Waits};
use crate::cuda::{Code, INVALID_HANDLE, NOT_READY};
use crate::handle::{Handle, Table};

/// The state of the last record.
#[derive(Clone, Debug)]
pub(super) enum EventState {
    /// Nothing.
    Unrecorded,
    /// Completed work.
    Done,
    /// Work that is not done yet.
    Pending(Recorded),
    /// A point of a capture.
    Captured(Point),
}

#[derive(Debug)]
struct Event {
    /// The device of its creation.
    device: u32,
    state: EventState,
}

/// All events, and the waits of streams for pending events.
pub(super) struct Events {
    all: Table<Event>,
    waits: Mutex<Waits>,
    /// The position of the next record that is pending.
    next_order: AtomicU64,
    is_held: AtomicBool,
}

impl Events {
    /// No event exists, and none is held.
    pub(super) const fn new() -> Events {
        Events {
            all: Table::new(),
            waits: Mutex::new(Waits::new()),
            next_order: AtomicU64::new(1),
            is_held: AtomicBool::new(false),
        }
    }

    fn lock_waits(&self) -> MutexGuard<'_, Waits> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes an event on a device.
    pub(super) fn create(&self, device: u32) -> Handle {
        self.all.insert(Event { device, state: EventState::Unrecorded })
    }

    /// Ends an event.
    pub(super) fn destroy(&self, event: Handle) -> Result<(), Code> {
        self.all.remove(event).map(|_| ()).ok_or(INVALID_HANDLE)
    }

    /// The state of an event.
    pub(super) fn state(&self, event: Handle) -> Result<EventState, Code> {
        self.all.with(event, |event| event.state.clone()).ok_or(INVALID_HANDLE)
    }

    /// The device of an event's creation.
    pub(super) fn find_device(&self, event: Handle) -> Result<u32, Code> {
        self.all.with(event, |event| event.device).ok_or(INVALID_HANDLE)
    }

    /// Begins or ends holding events back.
    pub(super) fn hold(&self, is_held: bool) {
        self.is_held.store(is_held, Ordering::Relaxed);
    }

    /// Takes the record of an event on a stream, or at a point of a capture.
    pub(super) fn record(
        &self,
        event: Handle,
        on: StreamKey,
        point: Option<Point>,
        are_streams_late: bool,
    ) -> Result<(), Code> {
        let recorded = match point {
            Some(point) => EventState::Captured(point),
            None if self.is_held.load(Ordering::Relaxed) || are_streams_late => {
                let order = self.next_order.fetch_add(1, Ordering::Relaxed);
                EventState::Pending(self.lock_waits().record(on, order))
            }
            None => EventState::Done,
        };
        self.all.with(event, |event| event.state = recorded).ok_or(INVALID_HANDLE)
    }

    /// Takes the wait of a stream for an event, and returns the event's state.
    pub(super) fn wait(&self, on: StreamKey, event: Handle) -> Result<EventState, Code> {
        let state = self.state(event)?;
        if let EventState::Pending(recorded) = &state {
            self.lock_waits().wait(on, recorded);
        }
        Ok(state)
    }

    /// Fails for an event that is not done. Late events are pending for PyTorch's allocator alone: a poll of the program
    /// completes them.
    pub(super) fn query(&self, state: &EventState, are_streams_late: bool, is_allocators: bool) -> Result<(), Code> {
        if matches!(state, EventState::Pending(_)) && (!are_streams_late || is_allocators) {
            return Err(NOT_READY);
        }
        self.synchronize(state);
        Ok(())
    }

    /// Takes the host's wait for an event in a state.
    pub(super) fn synchronize(&self, state: &EventState) {
        if let EventState::Pending(last) = state {
            self.finish(|recorded| recorded.is_done_with(last));
        }
    }

    /// Completes all that was recorded on `on`; `None` = on any stream.
    pub(super) fn complete(&self, on: Option<StreamKey>) {
        self.finish(|recorded| on.is_none_or(|on| self.lock_waits().is_done_with_stream(recorded, on)));
    }

    fn finish(&self, is_done: impl Fn(&Recorded) -> bool) {
        self.all.for_each(|event| {
            if matches!(&event.state, EventState::Pending(recorded) if is_done(recorded)) {
                event.state = EventState::Done;
            }
        });
    }
}
