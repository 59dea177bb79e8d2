//! The recorder of a real run: every allocation and every free of PyTorch's allocator, with the Python stack, for a fraction of a microsecond.
//!
//! The agent loads the library into a process that has imported torch. PyTorch reports each allocation to the profiler through one
//! exported function (`c10::reportMemoryUsageToProfiler`, c10/core/Allocator.h, 2.0 and later), also while nothing is profiled;
//! `hook` puts a function of this crate in front. `frames` finds the Python stack without the interpreter's lock,
//! `stacks` numbers stacks, `blocks` knows the allocated blocks, and `file` holds all in a mapped file, which stays
//! whole however the process ends; `room` chooses its size. `append` writes the agent's other files. The layout of the file is Note `[Recording]` in `crates/wire/src/recording.rs`.
//!
//! The recorder does not use PyTorch's own history.

mod append;
mod blocks;
mod code;
mod file;
mod frames;
mod hook;
mod recording;
mod room;
mod stacks;

use std::ffi::{CStr, c_char, c_int};

use append::{FileIdentity, number_of, path_of};
use frames::Layout;
use recording::RECORDING;
use room::Capacity;

/// The result of a call: everything went well.
const DONE: c_int = 0;
/// This PyTorch calls no such function.
const NO_HOOK: c_int = -1;

/// Starts recording into a new file of `events` slots at `path`, or of fewer on a disk that is nearly full; `layout` describes the structures of
/// this Python. Returns 0, the system's error for a file that could not be made, or -1 for a PyTorch without the function.
///
/// # Safety
/// `path` is a C string, and the agent has compared `layout` with this interpreter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oomph_recorder_start(path: *const c_char, events: u64, layout: *const Layout) -> c_int {
    // SAFETY: by the contract of this function, both point to whole values for the length of the call.
    let (path, layout) = unsafe { (CStr::from_ptr(path), *layout) };
    let path = path_of(path);
    let file = match file::RecordingFile::create(path, Capacity::of_events(events)) {
        Ok(file) => file,
        failed => return number_of(&failed),
    };
    if !RECORDING.start(file, layout) {
        // An empty recording would hide that nothing was recorded; a file that stays is only that.
        let _ = std::fs::remove_file(path);
        return NO_HOOK;
    }
    DONE
}

/// Creates a file with a first line, and writes its identity to `identity`. Returns 0 or the system's error.
///
/// # Safety
/// `path` is a C string, `line` points to `length` bytes, `identity` to a value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oomph_recorder_create(
    path: *const c_char,
    identity: *mut FileIdentity,
    line: *const u8,
    length: usize,
) -> c_int {
    // SAFETY: by the contract of this function.
    let (path, line) = unsafe { (CStr::from_ptr(path), std::slice::from_raw_parts(line, length)) };
    let created = append::create(path_of(path), line);
    if let Ok(found) = &created {
        // SAFETY: by the contract of this function.
        unsafe { *identity = *found };
    }
    number_of(&created)
}

/// Appends a line to the file of this path and identity (Note `[No descriptor]` in `append.rs`). Returns 0 or the system's error.
///
/// # Safety
/// As for [`oomph_recorder_create`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oomph_recorder_append(
    path: *const c_char,
    identity: *const FileIdentity,
    line: *const u8,
    length: usize,
) -> c_int {
    // SAFETY: by the contract of this function.
    let (path, line) = unsafe { (CStr::from_ptr(path), std::slice::from_raw_parts(line, length)) };
    // SAFETY: by the contract of this function.
    number_of(&append::append(path_of(path), unsafe { *identity }, line))
}

/// Keeps a line in the recording that the system's `error` kept from its file. Returns 1, or 0 without a recording or without room.
///
/// # Safety
/// `line` points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oomph_recorder_reserve(line: *const u8, length: usize, error: c_int) -> c_int {
    // SAFETY: by the contract of this function.
    let line = unsafe { std::slice::from_raw_parts(line, length) };
    c_int::from(RECORDING.append_reserve(line, error))
}

/// Writes a file whole, or leaves the one before. Returns 0 or the system's error.
///
/// # Safety
/// `path` is a C string, `content` points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oomph_recorder_save(path: *const c_char, content: *const u8, length: usize) -> c_int {
    // SAFETY: by the contract of this function.
    let (path, content) = unsafe { (CStr::from_ptr(path), std::slice::from_raw_parts(content, length)) };
    number_of(&append::save(path_of(path), content))
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
