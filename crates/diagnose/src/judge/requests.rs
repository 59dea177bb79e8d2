//! The requests around a caught error, in relation to the statement that caught it.
//!
//! The agent records the lines of this statement, the *guard* (`python/oomph/agent/memory/guards.py`); the stack of each request
//! shows if the function of the guard still runs, and in which of its parts.

use std::collections::HashMap;

use trace::run::{Guard, OomRecord};
use trace::{Action, Bytes, Event, Frame, Mark, Process, Snapshot, StackId};

use crate::measure::own::{is_agent, is_own, is_python};

/// The lines of the guard's function that make a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    /// The guarded statements.
    Body,
    /// Lines from `except` to the end of the handler.
    Handler,
    /// Other lines of the function.
    Rest,
    /// The guarded statements, in a further call of the function inside the first.
    Deeper,
    /// None: the function has returned, or waits in another thread.
    Outside,
}

/// A request with its stack.
#[derive(Clone, Debug)]
pub(super) struct Request<'a> {
    /// The requested size.
    pub(super) bytes: Bytes,
    /// The address.
    pub(super) event: &'a Event,
    /// The mark in force.
    pub(super) mark: Option<&'a Mark>,
    /// The stack; `None` without one, as in autograd's threads.
    pub(super) stack: Option<Seen<'a>>,
}

/// A stack in relation to the guard.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen<'a> {
    /// The part of the call of the guard's function that caught the error.
    pub(super) section: Section,
    /// True if any call of the function runs its guarded statements.
    pub(super) is_guarded: bool,
    /// True if the function that was called by the guarded statements runs.
    pub(super) is_callee: bool,
    /// The user's innermost line.
    pub(super) own: Option<&'a Frame>,
    /// The code that makes the request.
    pub(super) requester: Requester,
}

/// The code that makes a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Requester {
    /// The user's line: the innermost of all.
    Line,
    /// The move of a module to the device (`Module.to`, `Module.cuda`).
    Placement,
    /// Another function.
    Function,
}

/// An error with the stack that it was raised in, and the events of its device.
#[derive(Debug)]
pub(super) struct Guarded<'a> {
    pub(super) oom: &'a OomRecord,
    pub(super) guard: &'a Guard,
    process: &'a Process,
    snapshot: &'a Snapshot,
    events: &'a [Event],
    /// The error's event.
    at: usize,
    /// The stack without the agent's frames, innermost first.
    frames: Vec<Frame>,
    /// The index of the frame that catches.
    catching: usize,
    /// The index of the user's outermost frame inside it.
    callee: Option<usize>,
}

impl<'a> Guarded<'a> {
    /// Finds the guard of an error in its stack; `None` for an error that no statement catches, and without a history.
    pub(super) fn of(process: &'a Process, oom: &'a OomRecord) -> Option<Guarded<'a>> {
        let (guard, (file, _)) = (oom.guard.as_ref()?, oom.caught_at.as_ref()?);
        let snapshot = process.snapshot.as_ref()?;
        let events = snapshot.traces.get(oom.device as usize)?;
        let frames = oom.frames.iter().filter(|(_, file, _)| !is_agent(file));
        let frame = |(function, file, line): &(String, String, u32)| Frame {
            function: function.clone(),
            file: file.clone(),
            line: *line,
        };
        let frames: Vec<Frame> = frames.map(frame).filter(is_python).collect();
        let catching = frames.iter().position(|frame| frame.file == *file && is_in_body(guard, frame.line))?;
        let callee = frames[..catching].iter().rposition(|frame| is_own(&frame.file, &process.identity.script_dir));
        Some(Guarded {
            oom,
            guard,
            process,
            snapshot,
            events,
            at: find_event(process, oom, events)?,
            frames,
            catching,
            callee,
        })
    }

    /// The function that the guarded statements called; `None` if the request is theirs, or a module's `forward`, which
    /// unrelated lines call, too.
    pub(super) fn callee(&self) -> Option<&Frame> {
        let frame = self.callee.and_then(|index| self.frames.get(index))?;
        (frame.function != "forward" && frame.function != "__call__").then_some(frame)
    }

    /// The user's innermost line of the failed request.
    pub(super) fn own(&self) -> Option<&Frame> {
        self.frames.iter().find(|frame| self.is_own(frame))
    }

    /// True if the error was raised in a thread that the program started.
    pub(super) fn is_in_thread(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.function == "_bootstrap")
    }

    /// The number of the failed request's event.
    pub(super) fn refused_index(&self) -> usize {
        self.at
    }

    /// True if the failed request moves a module to the device.
    pub(super) fn is_placement(&self) -> bool {
        self.frames.iter().any(is_placing)
    }

    /// The size of the failed request, as its event has it.
    pub(super) fn refused_bytes(&self) -> Bytes {
        self.events.get(self.at).map(|event| event.size).unwrap_or_default()
    }

    /// The requests after the error, oldest first.
    pub(super) fn after(&'a self) -> Vec<Request<'a>> {
        self.list(self.events.get(self.at + 1..).unwrap_or_default())
    }

    /// The requests before the error, oldest first.
    pub(super) fn before(&'a self) -> Vec<Request<'a>> {
        self.list(self.events.get(..self.at).unwrap_or_default())
    }

    /// The number of an event in the history.
    pub(super) fn index(&self, event: &Event) -> usize {
        self.events.iter().position(|other| std::ptr::eq(other, event)).unwrap_or(self.events.len())
    }

    /// True if the block of a request was freed before the event with the number `end`.
    pub(super) fn is_freed_before(&self, request: &Request, end: usize) -> bool {
        let later = self.events.get(self.index(request.event)..end).unwrap_or_default();
        later.iter().any(|event| event.action == Action::FreeRequested && event.address == request.event.address)
    }

    fn list(&'a self, events: &'a [Event]) -> Vec<Request<'a>> {
        let mut seen: HashMap<StackId, Option<Seen<'a>>> = HashMap::new();
        let requests = events.iter().filter(|event| event.action == Action::Alloc);
        let request = |event: &'a Event| Request {
            bytes: event.size,
            event,
            mark: event.mark.and_then(|mark| self.snapshot.marks.get(mark as usize)),
            stack: *seen.entry(event.stack).or_insert_with(|| self.see(event.stack)),
        };
        requests.map(request).collect()
    }

    fn see(&'a self, stack: StackId) -> Option<Seen<'a>> {
        let frames = self.snapshot.stacks.frames(stack);
        let frames: Vec<&Frame> = frames.filter(|frame| is_python(frame) && !is_agent(&frame.file)).collect();
        let innermost = frames.first()?;
        let own = frames.iter().copied().find(|frame| self.is_own(frame));
        let callee = self.callee();
        Some(Seen {
            section: self.find_section(&frames),
            is_guarded: frames.iter().any(|frame| self.is_body(frame)),
            is_callee: frames.iter().any(|frame| callee.is_some_and(|callee| is_same_function(frame, callee))),
            own,
            requester: if own.is_some_and(|own| std::ptr::eq(own, *innermost)) {
                Requester::Line
            } else if frames.iter().copied().any(is_placing) {
                Requester::Placement
            } else {
                Requester::Function
            },
        })
    }

    fn find_section(&self, frames: &[&Frame]) -> Section {
        let outer = &self.frames[self.catching + 1..];
        let Some(index) = frames.len().checked_sub(outer.len() + 1) else { return Section::Outside };
        let is_within = frames[index + 1..].iter().zip(outer).all(|(here, there)| **here == *there);
        if !is_within || !is_same_function(frames[index], &self.frames[self.catching]) {
            return Section::Outside;
        }
        let line = frames[index].line;
        if is_in_body(self.guard, line) {
            Section::Body
        } else if frames[..index].iter().any(|frame| self.is_body(frame)) {
            Section::Deeper
        } else if self
            .oom
            .caught_at
            .as_ref()
            .is_some_and(|(_, first)| (*first..=self.guard.handler_last).contains(&line))
        {
            Section::Handler
        } else {
            Section::Rest
        }
    }

    fn is_body(&self, frame: &Frame) -> bool {
        is_same_function(frame, &self.frames[self.catching]) && is_in_body(self.guard, frame.line)
    }

    fn is_own(&self, frame: &Frame) -> bool {
        is_own(&frame.file, &self.process.identity.script_dir)
    }
}

fn is_in_body(guard: &Guard, line: u32) -> bool {
    (guard.body_first..=guard.body_last).contains(&line)
}

/// True for the frame of `Module.to` or `Module.cuda` (`torch/nn/modules/module.py`).
fn is_placing(frame: &Frame) -> bool {
    frame.function == "_apply" && frame.file.ends_with("torch/nn/modules/module.py")
}

fn is_same_function(one: &Frame, other: &Frame) -> bool {
    one.function == other.function && one.file == other.file
}

/// Returns the event of an error. The history may have lost the oldest events, so that errors are counted from the end.
fn find_event(process: &Process, oom: &OomRecord, events: &[Event]) -> Option<usize> {
    let later = process.ooms.iter().rev().filter(|other| other.device == oom.device);
    let from_end = later.take_while(|other| !std::ptr::eq(*other, oom)).count();
    let errors = events.iter().enumerate().rev().filter(|(_, event)| event.action == Action::Oom);
    errors.map(|(index, _)| index).nth(from_end)
}
