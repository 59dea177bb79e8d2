//! The rules of Note `[Captures]` as tables of calls. The expected codes are those of the programming guide, of the comments in
//! cuda_runtime_api.h (CUDA 13.0) and of the recordings that `tests/captures` names.

mod forbidden;
mod joins;

use std::collections::BTreeMap;

use super::machine::Captures;
use super::types::{CallingThread, CaptureEffect, Mode, Point, StreamKey};
use super::{add_node, take_graph};
use crate::cuda::Code;
use crate::cuda::graph::{self, Work};
use crate::cuda::stream::Stream;

use CapturedCall::{
    Allocate, AskDevice, AskEvent, AskStatus, AskStream, Begin, End, Launch, Record, RecordExternal, Release, Run,
    Wait, WaitExternal,
};

const LEGACY: StreamKey = 0;
/// Streams of device 0; only the last waits for the legacy stream.
const ORIGIN: StreamKey = 0x10;
const SIDE: StreamKey = 0x20;
const THIRD: StreamKey = 0x30;
const BLOCKING: StreamKey = 0x40;
/// A stream of device 1.
const FAR: StreamKey = 0x50;

const MODES: [Mode; 3] = [Mode::Global, Mode::ThreadLocal, Mode::Relaxed];

const FIRST: CallingThread = CallingThread { number: 1, mode: Mode::Global, device: 0, find_stream };
const SECOND: CallingThread = CallingThread { number: 2, ..FIRST };
const SECOND_RELAXED: CallingThread = CallingThread { mode: Mode::Relaxed, ..SECOND };
const SECOND_FAR: CallingThread = CallingThread { device: 1, ..SECOND };

fn find_stream(key: StreamKey) -> Option<Stream> {
    let (device, flags) = match key {
        LEGACY | BLOCKING => (0, 0),
        ORIGIN | SIDE | THIRD => (0, 1),
        FAR => (1, 1),
        _ => return None,
    };
    Some(Stream { device, priority: 0, flags })
}

/// A call of a program. Events have names; an event that no capture recorded stands for work outside.
#[derive(Clone, Copy, Debug)]
enum CapturedCall {
    Begin(StreamKey, Mode),
    End(StreamKey),
    /// Work on a stream.
    Run(StreamKey),
    /// The launch of a graph, or a callback.
    Launch(StreamKey),
    Record(StreamKey, &'static str),
    RecordExternal(StreamKey),
    Wait(StreamKey, &'static str),
    WaitExternal(StreamKey),
    /// `cudaStreamSetCaptureDependencies` without nodes.
    Release(StreamKey),
    /// `cudaMalloc`.
    Allocate,
    AskStatus(StreamKey),
    /// A query of the host, or a wait.
    AskStream(StreamKey),
    AskEvent(&'static str),
    AskDevice,
}

/// The code of a forbidden call. Of an allowed call, a number: the nodes that the call added, the nodes of the graph after an end,
/// or a stream's `cudaStreamCaptureStatus`.
type Answer = Result<usize, Code>;

/// A program's captures and events.
struct CapturingProgram {
    captures: Captures,
    points: BTreeMap<&'static str, Point>,
}

impl CapturingProgram {
    fn call(&mut self, thread: &CallingThread, call: CapturedCall) -> Answer {
        let captures = &mut self.captures;
        match call {
            Begin(on, mode) => captures.begin(thread, on, mode, || graph::create() as usize).map(|()| 0),
            End(on) => Ok(graph::nodes(take_graph(captures.end(thread, on)?)?)?.len()),
            Run(on) => add_node(captures.note(thread, on)?, Work::Kernel).map(usize::from),
            Launch(on) => captures.forbid_on(thread, on).map(|()| 0),
            Record(on, event) => {
                self.points.remove(event);
                if let CaptureEffect::MarkEvent(point) = captures.record(thread, on, false)? {
                    self.points.insert(event, point);
                }
                Ok(0)
            }
            RecordExternal(on) => add_node(captures.record(thread, on, true)?, Work::RecordEvent).map(usize::from),
            Wait(on, event) => {
                add_node(captures.wait(thread, on, self.points.get(event), false)?, Work::WaitEvent).map(usize::from)
            }
            WaitExternal(on) => add_node(captures.wait(thread, on, None, true)?, Work::WaitEvent).map(usize::from),
            Release(on) => captures.update_last(on, &[], true).map(|()| 0),
            Allocate => captures.forbid_unsafe(thread).map(|()| 0),
            AskStatus(on) => captures.status_of(thread, on).map(|status| status.number() as usize),
            AskStream(on) => captures.forbid_waiting_for(thread, on).map(|()| 0),
            AskEvent(event) => match self.points.get(event) {
                Some(point) => Err(captures.refuse_captured(point)),
                None => captures.forbid_unsafe(thread).map(|()| 0),
            },
            AskDevice => captures.forbid_waiting_for_device(thread).map(|()| 0),
        }
    }
}

/// Makes the calls of a program, and compares their answers.
fn check(steps: &[(CallingThread, CapturedCall, Answer)]) {
    let mut program = CapturingProgram { captures: Captures::new(), points: BTreeMap::new() };
    for (index, (thread, call, expected)) in steps.iter().enumerate() {
        let made = format!("{steps:?}\nstep {index}: {call:?} of thread {}", thread.number);
        assert_eq!(program.call(thread, *call), *expected, "{made}");
    }
}
