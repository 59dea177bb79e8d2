//! Handles: numbers that look like pointers to the caller and are never dereferenced by us.
//!
//! A handle is `(serial << 28 | slot) << 4`. No two handles of a process share a serial number, so stale and foreign handles,
//! and handles of another kind, are recognised and refused. Nothing is read through a handle, and no handle is null.

use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A handle as C passes it: opaque, pointer-sized.
pub(crate) type Handle = *mut c_void;

/// Room for 268 million objects of a kind that are alive at once: nodes of graphs are the most.
const SLOT_BITS: u32 = 28;

/// The serial number of the next handle, whatever its kind.
static NEXT_SERIAL: AtomicUsize = AtomicUsize::new(1);

struct HandleSlot<T> {
    serial: usize,
    value: Option<T>,
}

struct Slots<T> {
    all: Vec<HandleSlot<T>>,
    vacant: Vec<usize>,
}

/// All live objects of one kind.
pub(crate) struct Table<T> {
    slots: Mutex<Slots<T>>,
}

impl<T> Table<T> {
    /// A table without objects; usable in a `static`.
    pub(crate) const fn new() -> Table<T> {
        Table { slots: Mutex::new(Slots { all: Vec::new(), vacant: Vec::new() }) }
    }

    fn lock(&self) -> MutexGuard<'_, Slots<T>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores `value` and returns its handle.
    pub(crate) fn insert(&self, value: T) -> Handle {
        let mut slots = self.lock();
        let index = slots.vacant.pop().unwrap_or_else(|| {
            slots.all.push(HandleSlot { serial: 0, value: None });
            slots.all.len() - 1
        });
        let slot = &mut slots.all[index];
        slot.serial = NEXT_SERIAL.fetch_add(1, Ordering::Relaxed);
        slot.value = Some(value);
        (((slot.serial << SLOT_BITS) | index) << 4) as Handle
    }

    /// Runs `body` on the object behind `handle`; `None` for a stale or foreign handle.
    pub(crate) fn with<R>(&self, handle: Handle, body: impl FnOnce(&mut T) -> R) -> Option<R> {
        let mut slots = self.lock();
        let (index, serial) = split(handle);
        let slot = slots.all.get_mut(index)?;
        if slot.serial != serial {
            return None;
        }
        slot.value.as_mut().map(body)
    }

    /// Runs `body` on every live object.
    pub(crate) fn for_each(&self, mut body: impl FnMut(&mut T)) {
        for slot in &mut self.lock().all {
            if let Some(value) = &mut slot.value {
                body(value);
            }
        }
    }

    /// Takes the object out; `None` for a stale or foreign handle.
    pub(crate) fn remove(&self, handle: Handle) -> Option<T> {
        let mut slots = self.lock();
        let (index, serial) = split(handle);
        let slot = slots.all.get_mut(index)?;
        if slot.serial != serial {
            return None;
        }
        let value = slot.value.take()?;
        slots.vacant.push(index);
        Some(value)
    }
}

impl<T> Default for Table<T> {
    fn default() -> Table<T> {
        Table::new()
    }
}

fn split(handle: Handle) -> (usize, usize) {
    let number = handle as usize >> 4;
    (number & ((1 << SLOT_BITS) - 1), number >> SLOT_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_handle_is_refused_even_when_its_slot_is_used_again() {
        let table = Table::new();
        let first = table.insert("first");
        assert_eq!(table.remove(first), Some("first"));
        let second = table.insert("second");
        assert_ne!(first, second);
        assert_eq!(table.with(first, |value| *value), None);
        assert_eq!(table.with(second, |value| *value), Some("second"));
    }

    #[test]
    fn a_handle_of_another_kind_is_refused() {
        let (streams, events) = (Table::new(), Table::new());
        let (stream, event) = (streams.insert("stream"), events.insert("event"));
        assert_eq!(streams.with(event, |value| *value), None);
        assert_eq!(events.remove(stream), None);
    }

    #[test]
    fn a_pointer_that_is_no_handle_is_refused() {
        let table: Table<u8> = Table::new();
        let local = 0u8;
        assert_eq!(table.with(std::ptr::null_mut(), |value| *value), None);
        assert_eq!(table.with((&raw const local).cast_mut().cast(), |value| *value), None);
    }
}
