//! The captures under way as a value. The rules are those of Note `[Captures]` in `capture.rs`.
//!
//! A method returns the code of a forbidden call, or the [`CaptureEffect`] that the caller performs before the next
//! method is called. Graphs are numbers here: their nodes live elsewhere.

use std::collections::BTreeMap;

use super::types::{CallingThread, Capture, CaptureEffect, CaptureId, EndedCapture, Mode, Point, Status, StreamKey};
use crate::cuda::graph::NodeId;
use crate::cuda::{
    CAPTURE_IMPLICIT, CAPTURE_INVALIDATED, CAPTURE_ISOLATION, CAPTURE_MERGE, CAPTURE_UNMATCHED, CAPTURE_UNSUPPORTED,
    CAPTURE_WRONG_THREAD, CAPTURED_EVENT, Code, ILLEGAL_STATE, INVALID_VALUE, stream,
};
use crate::handle::Handle;

/// The captures under way.
#[derive(Debug)]
pub(super) struct Captures {
    all: Vec<Capture>,
    /// The number of the next capture.
    next_id: u64,
}

impl Captures {
    /// No capture is under way.
    pub(super) const fn new() -> Captures {
        Captures { all: Vec::new(), next_id: 1 }
    }

    /// The number of captures under way.
    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    fn capture_of(&mut self, on: StreamKey) -> Option<&mut Capture> {
        self.all.iter_mut().find(|capture| capture.streams.contains_key(&on))
    }

    /// Invalidates the captures that forbid something; fails with `code` if any does.
    fn refuse(&mut self, code: Code, forbids: impl Fn(&Capture) -> bool) -> Result<(), Code> {
        let mut result = Ok(());
        for capture in self.all.iter_mut().filter(|capture| capture.is_valid && forbids(capture)) {
            capture.is_valid = false;
            result = Err(code);
        }
        result
    }

    /// Refuses the legacy stream beside captures that it would wait for.
    fn forbid_legacy(&mut self, thread: &CallingThread) -> Result<(), Code> {
        self.refuse(CAPTURE_IMPLICIT, |capture| capture.has_blocking_stream(thread))
    }

    /// Begins a capture in a graph of `create_graph`, which is called only if the capture begins.
    pub(super) fn begin(
        &mut self,
        thread: &CallingThread,
        on: StreamKey,
        mode: Mode,
        create_graph: impl FnOnce() -> usize,
    ) -> Result<(), Code> {
        if stream::is_legacy(on as Handle) {
            return Err(CAPTURE_UNSUPPORTED);
        }
        if self.capture_of(on).is_some() {
            return Err(ILLEGAL_STATE);
        }
        self.all.push(Capture {
            id: CaptureId(self.next_id),
            origin: on,
            thread: thread.number,
            mode,
            graph: create_graph(),
            is_valid: true,
            streams: BTreeMap::from([(on, Vec::new())]),
            released: Vec::new(),
        });
        self.next_id += 1;
        Ok(())
    }

    /// Ends the capture that began on a stream. Its streams are free again, except after a call on another stream or by
    /// the wrong thread.
    pub(super) fn end(&mut self, thread: &CallingThread, on: StreamKey) -> Result<EndedCapture, Code> {
        let found = self.all.iter().position(|capture| capture.streams.contains_key(&on));
        let index = found.ok_or(ILLEGAL_STATE)?;
        if self.all[index].origin != on {
            return Err(CAPTURE_UNMATCHED);
        }
        if self.all[index].mode != Mode::Relaxed && self.all[index].thread != thread.number {
            return Err(CAPTURE_WRONG_THREAD);
        }
        let mut capture = self.all.swap_remove(index);
        let mut last = capture.streams.remove(&capture.origin).unwrap_or_default();
        last.append(&mut capture.released);
        Ok(EndedCapture {
            graph: capture.graph,
            last: if capture.is_valid { Ok(last) } else { Err(CAPTURE_INVALIDATED) },
        })
    }

    /// A stream's capture status.
    pub(super) fn status_of(&mut self, thread: &CallingThread, on: StreamKey) -> Result<Status, Code> {
        let is_awaited = |capture: &Capture| capture.is_valid && capture.has_blocking_stream(thread);
        if stream::is_legacy(on as Handle) && self.all.iter().any(is_awaited) {
            return Err(CAPTURE_IMPLICIT);
        }
        let Some(capture) = self.capture_of(on) else { return Ok(Status::None) };
        let last = capture.streams.get(&on).map_or(&[][..], Vec::as_slice);
        let active = Status::Active { id: capture.id, graph: capture.graph, last: last.as_ptr(), count: last.len() };
        Ok(if capture.is_valid { active } else { Status::Invalidated })
    }

    /// Takes work on a stream.
    pub(super) fn note(&mut self, thread: &CallingThread, on: StreamKey) -> Result<CaptureEffect<'_>, Code> {
        if stream::is_legacy(on as Handle) {
            return self.forbid_legacy(thread).map(|()| CaptureEffect::Nothing);
        }
        let Some(capture) = self.capture_of(on) else { return Ok(CaptureEffect::Nothing) };
        if !capture.is_valid {
            return Err(CAPTURE_INVALIDATED);
        }
        let Some(last) = capture.streams.get_mut(&on) else { return Ok(CaptureEffect::Nothing) };
        Ok(CaptureEffect::AddNode { graph: capture.graph, last })
    }

    /// Takes the record of an event on a stream.
    pub(super) fn record(
        &mut self,
        thread: &CallingThread,
        on: StreamKey,
        is_external: bool,
    ) -> Result<CaptureEffect<'_>, Code> {
        if is_external || stream::is_legacy(on as Handle) {
            return self.note(thread, on);
        }
        let Some(capture) = self.capture_of(on) else { return Ok(CaptureEffect::Nothing) };
        if !capture.is_valid {
            return Err(CAPTURE_INVALIDATED);
        }
        let last = capture.streams.get(&on).cloned().unwrap_or_default();
        Ok(CaptureEffect::MarkEvent(Point { capture: capture.id, last }))
    }

    /// Makes a stream wait for an event: for a point of a capture, or for work that was not captured (`None`).
    pub(super) fn wait(
        &mut self,
        thread: &CallingThread,
        on: StreamKey,
        point: Option<&Point>,
        is_external: bool,
    ) -> Result<CaptureEffect<'_>, Code> {
        if is_external && point.is_none() {
            return self.note(thread, on);
        }
        self.join(on, point).map(|()| CaptureEffect::Nothing)
    }

    fn join(&mut self, on: StreamKey, point: Option<&Point>) -> Result<(), Code> {
        let waits_in = self.capture_of(on).map(|capture| (capture.id, capture.is_valid));
        let recorded_in = point.and_then(|point| self.all.iter().find(|capture| capture.id == point.capture));
        let recorded_in = recorded_in.map(|capture| (capture.id, capture.is_valid));
        match (waits_in, recorded_in) {
            (None, None) => Ok(()),
            (Some((_, false)), _) | (_, Some((_, false))) => Err(CAPTURE_INVALIDATED),
            // An event of an ended capture: CUDA's answer is unknown.
            (Some(_), None) if point.is_some() => Ok(()),
            (Some((id, _)), None) => self.refuse(CAPTURE_ISOLATION, |capture| capture.id == id),
            (Some((one, _)), Some((other, _))) if one != other => {
                self.refuse(CAPTURE_MERGE, |capture| capture.id == one || capture.id == other)
            }
            (None, Some((id, _))) if stream::is_legacy(on as Handle) => {
                self.refuse(CAPTURE_IMPLICIT, |capture| capture.id == id)
            }
            (_, Some((id, _))) => {
                let after = point.map_or(&[][..], |point| &point.last);
                let capture = self.all.iter_mut().find(|capture| capture.id == id).ok_or(INVALID_VALUE)?;
                let last = capture.streams.entry(on).or_default();
                last.extend(after.iter().filter(|node| !last.contains(node)).copied().collect::<Vec<_>>());
                Ok(())
            }
        }
    }

    /// Replaces the last nodes of a stream, or adds to them.
    pub(super) fn update_last(&mut self, on: StreamKey, nodes: &[NodeId], replaces: bool) -> Result<(), Code> {
        let capture = self.capture_of(on).ok_or(ILLEGAL_STATE)?;
        if !capture.is_valid {
            return Err(CAPTURE_INVALIDATED);
        }
        let last = capture.streams.entry(on).or_default();
        if replaces {
            capture.released.append(last);
        }
        last.extend(nodes);
        Ok(())
    }

    /// Refuses a call that is potentially unsafe.
    pub(super) fn forbid_unsafe(&mut self, thread: &CallingThread) -> Result<(), Code> {
        if thread.mode == Mode::Relaxed {
            return Ok(());
        }
        self.refuse(CAPTURE_UNSUPPORTED, |capture| {
            let is_own = capture.thread == thread.number && capture.mode != Mode::Relaxed;
            let is_global = thread.mode == Mode::Global && capture.mode == Mode::Global;
            capture.is_on_device(thread) && (is_own || is_global)
        })
    }

    /// Refuses calls on a stream that cannot be captured.
    pub(super) fn forbid_on(&mut self, thread: &CallingThread, on: StreamKey) -> Result<(), Code> {
        if stream::is_legacy(on as Handle) {
            return self.forbid_legacy(thread);
        }
        if self.capture_of(on).is_some_and(|capture| !capture.is_valid) {
            return Err(CAPTURE_INVALIDATED);
        }
        self.refuse(CAPTURE_UNSUPPORTED, |capture| capture.streams.contains_key(&on))
    }

    /// Refuses to wait for a stream, or to ask whether it is done.
    pub(super) fn forbid_waiting_for(&mut self, thread: &CallingThread, on: StreamKey) -> Result<(), Code> {
        self.forbid_on(thread, on)?;
        self.forbid_unsafe(thread)
    }

    /// Refuses to wait for the calling thread's device while a stream of the device is captured.
    pub(super) fn forbid_waiting_for_device(&mut self, thread: &CallingThread) -> Result<(), Code> {
        self.refuse(CAPTURE_UNSUPPORTED, |capture| capture.is_on_device(thread))
    }

    /// Refuses to wait for an event that was recorded in a capture, or to query the event.
    pub(super) fn refuse_captured(&mut self, point: &Point) -> Code {
        let _is_over = self.refuse(CAPTURED_EVENT, |capture| capture.id == point.capture);
        CAPTURED_EVENT
    }
}
