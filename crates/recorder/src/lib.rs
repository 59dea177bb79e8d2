//! The recorder of a real run: every allocation and every free of PyTorch's allocator, with the Python stack, for a fraction of a microsecond.
//!
//! The agent loads the library into a process that has imported torch. PyTorch reports each allocation to the profiler through one
//! exported function (`c10::reportMemoryUsageToProfiler`, c10/core/Allocator.h, 2.0 and later), also while nothing is profiled;
//! `hook` puts a function of this crate in front. `frames` finds the Python stack without the interpreter's lock,
//! `stacks` numbers stacks, `blocks` knows the allocated blocks, and `file` holds all in a mapped file, which stays
//! whole however the process ends. The layout of the file is Note `[Recording]` in `crates/wire/src/recording.rs`.
//!
//! The recorder does not use PyTorch's own history.

mod blocks;
mod code;
mod file;
mod frames;
mod hook;
mod recording;
mod stacks;

use std::ffi::{CStr, OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use frames::Layout;
use recording::RECORDING;

/// The result of a call: everything went well.
const DONE: c_int = 0;
/// The file could not be made: the folder is full, read-only, or gone.
const NO_FILE: c_int = 1;
/// This PyTorch calls no such function.
const NO_HOOK: c_int = 2;

/// Starts recording into a new file of `events` slots at `path`; `layout` describes the structures of this Python.
/// Returns 0, 1 for a file that could not be made, or 2 for a PyTorch without the function.
///
/// # Safety
/// `path` is a C string, and the agent has compared `layout` with this interpreter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oomph_recorder_start(path: *const c_char, events: u64, layout: *const Layout) -> c_int {
    // SAFETY: by the contract of this function, both point to whole values for the length of the call.
    let (path, layout) = unsafe { (CStr::from_ptr(path), *layout) };
    let path = Path::new(OsStr::from_bytes(path.to_bytes()));
    let Ok(file) = file::RecordingFile::create(path, events) else {
        return NO_FILE;
    };
    if !RECORDING.start(file, layout) {
        // An empty recording would hide that nothing was recorded; a file that stays is only that.
        let _ = std::fs::remove_file(path);
        return NO_HOOK;
    }
    DONE
}

/// Sets the optimizer step of later events.
#[unsafe(no_mangle)]
pub extern "C" fn oomph_recorder_step(step: u32) {
    RECORDING.set_step(step);
}

/// The number of events so far.
#[unsafe(no_mangle)]
pub extern "C" fn oomph_recorder_count() -> u64 {
    RECORDING.count()
}

/// Stops recording: in a forked child, whose parent goes on with the file.
#[unsafe(no_mangle)]
pub extern "C" fn oomph_recorder_stop() {
    RECORDING.stop();
}

/// Goes on recording after a stop, for a benchmark. What was allocated in between is unknown.
#[unsafe(no_mangle)]
pub extern "C" fn oomph_recorder_resume() {
    RECORDING.resume();
}

/// Writes the addresses of the code object and of the last instruction of each Python function of this thread to `words`, innermost first,
/// at most `capacity` words; returns the number of functions. A difference from the frames that Python shows means another
/// `layout` than this Python's. Addresses without memory are not touched.
///
/// # Safety
/// `words` points to `capacity` words, `layout` to a whole value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oomph_recorder_probe(layout: *const Layout, words: *mut usize, capacity: usize) -> usize {
    // SAFETY: by the contract of this function.
    let (layout, words) = unsafe { (*layout, std::slice::from_raw_parts_mut(words, capacity)) };
    frames::probe(&layout, words)
}
