//! A capture's state, the thread that calls, and the effects of a call.

use std::collections::BTreeMap;

use crate::cuda::graph::NodeId;
use crate::cuda::stream::Stream;
use crate::cuda::{Code, INVALID_VALUE};

/// `cudaStreamCaptureMode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Forbids unsafe calls of its thread, and of every thread in global mode.
    Global,
    /// Forbids unsafe calls of its thread.
    ThreadLocal,
    /// Forbids no unsafe call.
    Relaxed,
}

impl Mode {
    /// The mode of a number of the header.
    pub(crate) fn from_number(number: i32) -> Result<Mode, Code> {
        match number {
            0 => Ok(Mode::Global),
            1 => Ok(Mode::ThreadLocal),
            2 => Ok(Mode::Relaxed),
            _ => Err(INVALID_VALUE),
        }
    }
}

/// A capture's number, unique in the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CaptureId(pub(crate) u64);

/// The position of an event in a capture: the stream's last nodes.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub(super) capture: CaptureId,
    pub(super) last: Vec<NodeId>,
}

/// A stream's capture status.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Status {
    /// Not capturing.
    None,
    /// Capturing: work becomes nodes.
    Active {
        /// The capture.
        id: CaptureId,
        /// The handle of its graph.
        graph: usize,
        /// The stream's last nodes: valid until the next call on the stream, as CUDA's are.
        last: *const NodeId,
        /// The number of nodes.
        count: usize,
    },
    /// Part of an invalidated capture.
    Invalidated,
}

impl Status {
    /// Its `cudaStreamCaptureStatus`.
    pub(crate) fn number(self) -> i32 {
        match self {
            Status::None => 0,
            Status::Active { .. } => 1,
            Status::Invalidated => 2,
        }
    }
}

/// A stream, by its handle as a number.
pub(super) type StreamKey = usize;

/// The thread that calls, and its view of the streams.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallingThread {
    /// Unique in the process.
    pub(super) number: u64,
    /// The mode for calls beside captures.
    pub(super) mode: Mode,
    /// The current device.
    pub(super) device: u32,
    /// Finds a stream; `None` for an ended stream.
    pub(super) find_stream: fn(StreamKey) -> Option<Stream>,
}

/// The task of the caller after an allowed call.
#[derive(Debug)]
pub(super) enum CaptureEffect<'a> {
    /// No task: the stream takes part in no capture, or an event was waited for.
    Nothing,
    /// Add a node after the last nodes, and put the node in their place.
    AddNode { graph: usize, last: &'a mut Vec<NodeId> },
    /// Store the point in the event.
    MarkEvent(Point),
}

/// A capture that has ended.
#[derive(Debug)]
pub(super) struct EndedCapture {
    pub(super) graph: usize,
    /// The nodes at the end, which must follow all others; or the reason why the program gets no graph.
    pub(super) last: Result<Vec<NodeId>, Code>,
}

/// A capture under way.
#[derive(Debug)]
pub(super) struct Capture {
    pub(super) id: CaptureId,
    pub(super) origin: StreamKey,
    pub(super) thread: u64,
    pub(super) mode: Mode,
    pub(super) graph: usize,
    pub(super) is_valid: bool,
    /// Its streams, and the last nodes of each.
    pub(super) streams: BTreeMap<StreamKey, Vec<NodeId>>,
    /// Nodes that the program removed from a stream's last nodes: later work need not wait for them.
    pub(super) released: Vec<NodeId>,
}

impl Capture {
    /// True if a stream is of the calling thread's device.
    pub(super) fn is_on_device(&self, thread: &CallingThread) -> bool {
        let mut streams = self.streams.keys().filter_map(|stream| (thread.find_stream)(*stream));
        streams.any(|stream| stream.device == thread.device)
    }

    /// True if the legacy stream of the calling thread's device waits implicitly for a stream of the capture.
    pub(super) fn has_blocking_stream(&self, thread: &CallingThread) -> bool {
        let mut streams = self.streams.keys().filter_map(|stream| (thread.find_stream)(*stream));
        self.is_on_device(thread) && streams.any(Stream::is_blocking)
    }
}
