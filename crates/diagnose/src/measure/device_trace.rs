//! One device of one process as recorded, with its history walked once.

use std::borrow::Cow;
use std::sync::LazyLock;

use trace::run::LoopRecord;
use trace::{DeviceIndex, Event, EventIndex, Frame, History, Mark, Process, Snapshot, StackId, StackTable};

use super::own::is_python;
use super::program_steps::ProgramSteps;
use super::roles::{Role, roles};

/// The process of a snapshot that was recorded without oomph: a process without records.
static NOBODY: LazyLock<Process> = LazyLock::new(Process::default);

/// A device's part of a recording.
#[derive(Debug)]
pub(crate) struct DeviceTrace<'a> {
    pub(crate) process: &'a Process,
    /// The process's snapshot; `None` if the process was killed before it wrote a snapshot.
    pub(crate) snapshot: Option<&'a Snapshot>,
    pub(crate) device: DeviceIndex,
    /// The events of the history.
    pub(crate) events: &'a [Event],
    /// The allocations of the history.
    pub(crate) history: History,
    /// The loops around the last failed request, outermost first: recorded, or guessed for a snapshot without a run.
    pub(crate) loops: Cow<'a, [LoopRecord]>,
    /// The program's numbers of the steps.
    pub(crate) program_steps: ProgramSteps,
    /// The role of each stack, by stack id.
    pub(super) roles: Vec<Role>,
    /// The script's folder.
    pub(super) script_dir: &'a str,
}

impl<'a> DeviceTrace<'a> {
    /// Walks the history of a process; empty without a snapshot.
    pub(super) fn new(process: &'a Process, device: DeviceIndex) -> DeviceTrace<'a> {
        DeviceTrace::of(process, process.snapshot.as_ref(), device)
    }

    /// Walks the history of a snapshot without a run.
    pub(super) fn bare(snapshot: &'a Snapshot, device: DeviceIndex) -> DeviceTrace<'a> {
        DeviceTrace::of(&NOBODY, Some(snapshot), device)
    }

    /// Adds loops that are guessed.
    pub(super) fn with_loops(self, loops: Vec<LoopRecord>) -> DeviceTrace<'a> {
        DeviceTrace { loops: Cow::Owned(loops), ..self }
    }

    fn of(process: &'a Process, snapshot: Option<&'a Snapshot>, device: DeviceIndex) -> DeviceTrace<'a> {
        let events = snapshot.and_then(|snapshot| snapshot.traces.get(device.0 as usize));
        DeviceTrace {
            process,
            snapshot,
            device,
            events: events.map_or(&[][..], Vec::as_slice),
            history: snapshot.map(|snapshot| History::of(snapshot, device)).unwrap_or_default(),
            // Without an error the agent lists all loops of the program, and none is the one around a request.
            loops: Cow::Borrowed(if process.ooms.is_empty() { &[] } else { &process.loops }),
            program_steps: ProgramSteps::of(process),
            roles: snapshot.map(|snapshot| roles(&snapshot.stacks)).unwrap_or_default(),
            script_dir: &process.identity.script_dir,
        }
    }

    /// Checks that the loops are guessed. See Note `[Guessed loops]`.
    pub(super) fn is_guessed(&self) -> bool {
        matches!(self.loops, Cow::Owned(_))
    }

    /// Checks that the agent marked the events.
    pub(crate) fn is_marked(&self) -> bool {
        self.events.iter().any(|event| event.mark.is_some())
    }

    /// Returns the mark in force at an event; `None` before the first mark.
    pub(crate) fn mark(&self, event: EventIndex) -> Option<&'a Mark> {
        let index = self.events.get(event.0 as usize)?.mark?;
        self.snapshot?.marks.get(index as usize)
    }

    /// Returns the first event whose mark satisfies `reached`, else the end of the history.
    pub(crate) fn first_event(&self, reached: impl Fn(&Mark) -> bool) -> EventIndex {
        let mut events = (0..).map(EventIndex).take(self.events.len());
        let found = events.find(|&event| self.mark(event).is_some_and(&reached));
        found.unwrap_or(self.end())
    }

    /// The index after the last event.
    pub(crate) fn end(&self) -> EventIndex {
        EventIndex(u32::try_from(self.events.len()).unwrap_or(u32::MAX))
    }

    /// Returns the events of all out-of-memory errors.
    pub(crate) fn ooms(&self) -> Vec<EventIndex> {
        self.history.ooms().iter().map(|oom| oom.event).collect()
    }

    /// Returns the event of the last out-of-memory error.
    pub(crate) fn last_oom(&self) -> Option<EventIndex> {
        self.history.ooms().last().map(|oom| oom.event)
    }

    /// Checks that DistributedDataParallel allocated its gradient buckets by the stack.
    pub(crate) fn is_of_buckets(&self, stack: StackId) -> bool {
        matches!(self.roles.get(stack.0 as usize), Some(Role::Buckets))
    }

    /// Checks that two stacks have the same Python frames.
    pub(crate) fn is_same_python(&self, one: StackId, other: StackId) -> bool {
        one == other || self.python(one).eq(self.python(other))
    }

    /// Returns the Python frames of a stack, innermost first.
    pub(super) fn python(&self, stack: StackId) -> impl Iterator<Item = &'a Frame> + use<'a> {
        let all = self.stacks().into_iter().flat_map(move |stacks| stacks.frames(stack));
        all.filter(|frame| is_python(frame))
    }

    fn stacks(&self) -> Option<&'a StackTable> {
        self.snapshot.map(|snapshot| &snapshot.stacks)
    }
}
