//! Streams: order without work. What was launched is done at once; only capture has state.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{CAPTURE_UNMATCHED, Code, INVALID_HANDLE, context};
use crate::handle::{Handle, Table};

/// A stream that the program made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stream {
    /// Its device.
    pub(crate) device: u32,
    /// Its priority, as asked for.
    pub(crate) priority: i32,
    /// Its flags, as asked for.
    pub(crate) flags: u32,
    /// The capture it takes part in.
    pub(crate) capture: Option<u64>,
}

/// The least and the greatest priority, as every GPU reports them.
pub(crate) const PRIORITIES: (i32, i32) = (0, -5);

static STREAMS: Table<Stream> = Table::new();
static CAPTURES: AtomicU64 = AtomicU64::new(1);

/// Null, `cudaStreamLegacy` and `cudaStreamPerThread` always exist.
fn is_built_in(stream: Handle) -> bool {
    (stream as usize) <= 2
}

/// Makes a stream on the calling thread's device.
pub(crate) fn create(flags: u32, priority: i32) -> Handle {
    let priority = priority.clamp(PRIORITIES.1, PRIORITIES.0);
    STREAMS.insert(Stream { device: context::current(), priority, flags, capture: None })
}

/// Ends a stream.
pub(crate) fn destroy(stream: Handle) -> Result<(), Code> {
    STREAMS.remove(stream).map(|_| ()).ok_or(INVALID_HANDLE)
}

/// What is known of a stream.
pub(crate) fn get(stream: Handle) -> Result<Stream, Code> {
    if is_built_in(stream) {
        return Ok(Stream { device: context::current(), priority: 0, flags: 0, capture: None });
    }
    STREAMS.with(stream, |stream| *stream).ok_or(INVALID_HANDLE)
}

/// Begins a capture and returns its number.
pub(crate) fn begin_capture(stream: Handle) -> Result<u64, Code> {
    let id = CAPTURES.fetch_add(1, Ordering::Relaxed);
    join_capture(stream, Some(id))?;
    Ok(id)
}

/// Makes a stream take part in a capture: it waited for an event that was recorded there.
pub(crate) fn join_capture(stream: Handle, capture: Option<u64>) -> Result<(), Code> {
    if is_built_in(stream) {
        return Ok(());
    }
    STREAMS.with(stream, |stream| stream.capture = capture).ok_or(INVALID_HANDLE)
}

/// Ends the capture that the stream began; streams that joined it are free again.
pub(crate) fn end_capture(stream: Handle) -> Result<u64, Code> {
    let id = get(stream)?.capture.ok_or(CAPTURE_UNMATCHED)?;
    STREAMS.for_each(|other| {
        if other.capture == Some(id) {
            other.capture = None;
        }
    });
    Ok(id)
}

/// A host function on a stream; called at once, because streams hold no work.
pub(crate) type Callback = extern "C" fn(*mut c_void);
