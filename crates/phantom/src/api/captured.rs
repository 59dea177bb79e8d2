//! The common part of the runtime's and the driver's functions for captures and graphs: writing lists of nodes.

use std::ffi::{c_int, c_uint, c_void};

use crate::boundary::{In, Out, Status};
use crate::cuda::capture::{self, Status as CaptureStatus};
use crate::cuda::graph::{self, NodeId, Work};
use crate::cuda::{Code, INVALID_VALUE, stream};
use crate::handle::Handle;

/// `cudaEventRecordExternal`, `cudaEventWaitExternal` and the driver's: in a capture, the event is a node.
pub(crate) const EXTERNAL: c_uint = 1;

/// Exports functions that compute on the device only, in the order of the stream found by `$stream_of` in their first
/// argument. In a capture such a call is a node (Note [Captures] in `cuda/capture.rs`).
macro_rules! inert_on_stream {
    ($status:ty, $stream_of:path; $($name:ident)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`: computes on the device only, so nothing is done.")]
            #[unsafe(no_mangle)]
            pub extern "C" fn $name(handle: $crate::handle::Handle) -> $status {
                let noted = $crate::api::captured::note_for_library(|| $stream_of(handle));
                noted.err().unwrap_or(<$status as $crate::boundary::Status>::SUCCESS)
            }
        )*
    };
}
pub(crate) use inert_on_stream;

/// Notes work of a library on the stream found by `find_stream`, which is called only during a capture.
pub(crate) fn note_for_library<S: Status>(find_stream: impl FnOnce() -> usize) -> Result<(), S> {
    if !capture::is_any_under_way() {
        return Ok(());
    }
    capture::note(find_stream() as Handle, Work::Kernel).map(drop).map_err(|_| S::INTERNAL)
}

/// `cudaGraphEdgeData` and `CUgraphEdgeData`: zeros, for an ordinary dependency on the whole node.
pub(crate) type EdgeData = u64;

/// Edges for `cudaStreamGetCaptureInfo` to point to: those of a stream's last nodes. A stream with more is refused.
static ORDINARY_EDGES: [EdgeData; 256] = [0; 256];

/// `cudaStreamSetCaptureDependencies` and the driver's flag of that name.
const SET_DEPENDENCIES: c_uint = 1;

/// Writes a list as all functions with lists of nodes do: without an array, the count; else as many nodes as fit, null
/// in the rest of the array, and the number written.
pub(crate) fn write_nodes<S: Status + From<Code>>(
    found: &[NodeId],
    nodes: Out<NodeId>,
    edges: Out<EdgeData>,
    count: Out<usize>,
) -> Result<(), S> {
    if nodes.is_null() {
        return count.set(found.len());
    }
    let room: usize = count.get::<S>()?;
    let nulls = std::iter::repeat(NodeId::NULL);
    nodes.array(room).write::<S>(found.iter().copied().chain(nulls).take(room))?;
    edges.array(room).write::<S>(std::iter::repeat_n(0, room.min(found.len())))?;
    count.set(found.len().min(room))
}

/// Writes both ends of edges in the way of [`write_nodes`].
pub(crate) fn write_edges<S: Status + From<Code>>(
    graph: Handle,
    [from, to]: [Out<NodeId>; 2],
    data: Out<EdgeData>,
    count: Out<usize>,
) -> Result<(), S> {
    let (starts, ends): (Vec<_>, Vec<_>) = graph::edges(graph)?.into_iter().unzip();
    if from.is_null() != to.is_null() {
        return Err(S::INVALID);
    }
    if from.is_null() {
        return count.set(starts.len());
    }
    // Both arrays have the caller's length, which the first call overwrites.
    let room: usize = count.get::<S>()?;
    write_nodes::<S>(&starts, from, data, count)?;
    count.set::<S>(room)?;
    write_nodes(&ends, to, Out::NULL, count)
}

/// A stream's capture status, in the terms of `cudaStreamGetCaptureInfo`.
pub(crate) struct CaptureInfo {
    pub(crate) status: Out<c_int>,
    pub(crate) id: Out<u64>,
    pub(crate) graph: Out<Handle>,
    pub(crate) nodes: Out<*const NodeId>,
    pub(crate) edges: Option<Out<*const EdgeData>>,
    pub(crate) count: Out<usize>,
}

impl CaptureInfo {
    /// Writes what is asked for; all but the status is written only for a capture that is active.
    pub(crate) fn write<S: Status + From<Code>>(self, on: Handle) -> Result<(), S> {
        let status = capture::status_of(on)?;
        self.status.set::<S>(status.number())?;
        let CaptureStatus::Active { id, graph, last, count } = status else { return Ok(()) };
        self.id.set_if_wanted(id.0);
        self.graph.set_if_wanted(graph as Handle);
        self.nodes.set_if_wanted(last);
        self.count.set_if_wanted(count);
        let Some(edges) = self.edges.filter(|edges| !edges.is_null()) else { return Ok(()) };
        if count > ORDINARY_EDGES.len() {
            return Err(INVALID_VALUE.into());
        }
        edges.set(ORDINARY_EDGES.as_ptr())
    }
}

/// Ends a capture and writes its graph, or null.
pub(crate) fn end_capture<S: Status + From<Code>>(on: Handle, captured: Out<Handle>) -> Result<(), S> {
    let ended = capture::end(on);
    captured.set::<S>(ended.unwrap_or(std::ptr::null_mut()))?;
    ended.map(drop).map_err(S::from)
}

/// Replaces or extends a stream's last nodes.
pub(crate) fn update_dependencies<S: Status + From<Code>>(
    on: Handle,
    nodes: In<NodeId>,
    count: usize,
    flags: c_uint,
) -> Result<(), S> {
    let nodes = nodes.array(count).to_vec::<S>()?;
    Ok(capture::update_last(on, &nodes, flags == SET_DEPENDENCIES)?)
}

/// Calls a host function, or notes it where the stream is captured: then it is called when the graph is launched.
pub(crate) fn launch_host_function<S: Status + From<Code>>(
    on: Handle,
    callback: Option<graph::Callback>,
    data: *mut c_void,
) -> Result<(), S> {
    stream::get(on)?;
    let callback = callback.ok_or(INVALID_VALUE)?;
    if !capture::note(on, Work::Host(callback, data as usize))? {
        callback(data);
    }
    Ok(())
}
