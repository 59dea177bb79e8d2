//! Streams: order without work. What was launched is done at once.

use super::{Code, INVALID_HANDLE, context};
use crate::handle::{Handle, Table};

/// A stream that the program made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stream {
    /// Its device.
    pub(crate) device: u32,
    /// The requested priority.
    pub(crate) priority: i32,
    /// The requested flags.
    pub(crate) flags: u32,
}

impl Stream {
    /// True if the legacy stream and this stream wait for each other implicitly.
    pub(crate) fn is_blocking(self) -> bool {
        self.flags & NON_BLOCKING == 0
    }
}

/// The least and the greatest priority, as every GPU reports them.
pub(crate) const PRIORITIES: (i32, i32) = (0, -5);

static STREAMS: Table<Stream> = Table::new();

/// `cudaStreamNonBlocking`: no implicit waiting between the stream and the legacy stream.
const NON_BLOCKING: u32 = 1;

/// Null, `cudaStreamLegacy` and `cudaStreamPerThread` always exist.
fn is_built_in(stream: Handle) -> bool {
    (stream as usize) <= 2
}

/// True for the legacy stream: null, or `cudaStreamLegacy`.
pub(crate) fn is_legacy(stream: Handle) -> bool {
    (stream as usize) <= 1
}

/// Makes a stream on the calling thread's device.
pub(crate) fn create(flags: u32, priority: i32) -> Handle {
    let priority = priority.clamp(PRIORITIES.1, PRIORITIES.0);
    STREAMS.insert(Stream { device: context::current(), priority, flags })
}

/// Ends a stream.
pub(crate) fn destroy(stream: Handle) -> Result<(), Code> {
    STREAMS.remove(stream).map(|_| ()).ok_or(INVALID_HANDLE)
}

/// The state of a stream.
pub(crate) fn get(stream: Handle) -> Result<Stream, Code> {
    if is_built_in(stream) {
        return Ok(Stream { device: context::current(), priority: 0, flags: 0 });
    }
    STREAMS.with(stream, |stream| *stream).ok_or(INVALID_HANDLE)
}
