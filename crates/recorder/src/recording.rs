//! The recording of this process: the work at each allocation and each free.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, Once, PoisonError};

use wire::recording::{KIND_ERROR, KIND_MEMORY, header};

use crate::blocks;
use crate::file::{RecordedBlock, RecordedEvent, RecordingFile};
use crate::frames::{self, Layout};
use crate::hook::{self, Listener};
use crate::stacks::Stacks;

/// The only recording of the process.
pub(crate) static RECORDING: Recorder = Recorder {
    is_on: AtomicBool::new(false),
    step: AtomicU32::new(1),
    count: AtomicU64::new(0),
    state: Mutex::new(None),
};

/// The recorder of the process.
pub(crate) struct Recorder {
    is_on: AtomicBool,
    step: AtomicU32,
    count: AtomicU64,
    state: Mutex<Option<Active>>,
}

struct Active {
    file: RecordingFile,
    layout: Layout,
    stacks: Stacks,
    blocks: usize,
    lost_blocks: u64,
    started_millis: u64,
    millis: u32,
}

impl Recorder {
    /// Starts with a new file; false without PyTorch's function.
    pub(crate) fn start(&self, file: RecordingFile, layout: Layout) -> bool {
        if !frames::find_python() {
            return false;
        }
        stop_in_children();
        let (stacks, started_millis) = (Stacks::default(), now_millis());
        let state = Active { file, layout, stacks, blocks: 0, lost_blocks: 0, started_millis, millis: 0 };
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = Some(state);
        let is_hooked = hook::install::<Recorder>();
        self.is_on.store(is_hooked, Ordering::Release);
        is_hooked
    }

    pub(crate) fn set_step(&self, step: u32) {
        self.step.store(step, Ordering::Relaxed);
        if let Some(state) = self.state.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            state.file.set_step(step);
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Keeps a line of the agent's that its file could not take; false without a recording or without room.
    pub(crate) fn append_reserve(&self, line: &[u8], error: i32) -> bool {
        if !self.is_on.load(Ordering::Acquire) {
            return false;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.as_mut().is_some_and(|state| state.file.append_reserve(line, error))
    }

    /// Stops, without the lock: a thread of the parent alone may hold the lock of a forked child for ever.
    pub(crate) fn stop(&self) {
        self.is_on.store(false, Ordering::Release);
    }

    /// Goes on after a stop.
    pub(crate) fn resume(&self) {
        let is_started = self.state.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        self.is_on.store(is_started, Ordering::Release);
    }

    #[inline]
    fn with_state(&self, note: impl FnOnce(&mut Active, u32)) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(state) = state.as_mut() {
            note(state, self.step.load(Ordering::Relaxed));
            self.count.store(state.file.written(), Ordering::Relaxed);
        }
    }
}

impl Listener for Recorder {
    #[inline]
    fn note_memory(address: *mut c_void, change: i64, reserved: u64, device: u8) {
        if address.is_null() || change == 0 || !RECORDING.is_on.load(Ordering::Relaxed) {
            return;
        }
        let event = RecordedEvent {
            address: address as u64,
            change,
            reserved,
            kind: KIND_MEMORY,
            device,
            ..RecordedEvent::default()
        };
        RECORDING.with_state(|state, step| state.note(event, step));
    }

    fn note_error(requested: i64, reserved: u64, device: u8) {
        if RECORDING.is_on.load(Ordering::Relaxed) {
            let event =
                RecordedEvent { change: requested, reserved, kind: KIND_ERROR, device, ..RecordedEvent::default() };
            RECORDING.with_state(|state, step| state.note(event, step));
        }
    }

    fn stop_for_good() {
        RECORDING.stop();
    }
}

impl Active {
    #[inline]
    fn note(&mut self, mut event: RecordedEvent, step: u32) {
        event.step = step;
        if event.change > 0 {
            // A free has the time of the allocation before it: the clock is a tenth of the cost.
            self.millis = now_millis().saturating_sub(self.started_millis) as u32;
            event.stack = self.stacks.number(&self.layout, &mut self.file);
        }
        event.millis = self.millis;
        if event.kind == KIND_MEMORY {
            self.note_block(&event);
        }
        self.file.append(&event);
    }

    #[inline]
    fn note_block(&mut self, event: &RecordedEvent) {
        let RecordedEvent { address, change, stack, step, device, .. } = *event;
        if change < 0 {
            blocks::remove(self.file.blocks(), &mut self.blocks, address, device);
            return;
        }
        let block = RecordedBlock { address, size: change as u64, stack, step, device, ..RecordedBlock::default() };
        if !blocks::insert(self.file.blocks(), &mut self.blocks, block) {
            self.lost_blocks += 1;
            self.file.set_lost(header::LOST_BLOCKS, self.lost_blocks);
        }
    }
}

/// Stops the recorder of each forked child before the child runs on: the mapping is the parent's. Python's own hook misses forks by C code.
fn stop_in_children() {
    extern "C" fn stop() {
        RECORDING.stop();
    }
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the function only stores to an atomic, and PyTorch never unloads this library. Without memory for the hook, Python's remains.
        let _ = unsafe { libc::pthread_atfork(None, None, Some(stop)) };
    });
}

/// A time of the kernel's last tick, which costs a fifth of an exact one.
#[inline]
fn now_millis() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes to `now`.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &raw mut now) };
    now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000
}
