//! The recording of a process of a real run: its layout is Note `[Recording]` in `crates/wire/src/recording.rs`.
//!
//! # Note [Recorded snapshots]
//! A recording becomes a [`Snapshot`], so the readers of PyTorch's own history read a real run as well. Two things are missing in a
//! recording. Segments are the first: a dump of PyTorch's at the same instant states all segments, else the ranges of all used addresses
//! count as segments. The second is the free memory of the device at an error, which the agent notes.

mod bytes;
mod growing;
mod phases;
mod progress;
mod reservations;
#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test")]
mod tests;
mod texts;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use thiserror::Error;
use wire::recording::{BLOCK_BYTES, KIND_ERROR, KIND_MEMORY, VERSION, header};

use self::bytes::Fields;
pub use self::growing::{
    BlockChange, HeldMemory, RecordingHeader, read_changes, read_header, settle_blocks, sum_blocks,
};
use self::phases::Phases;
pub use self::progress::PhaseReader;
use self::reservations::{HeldBlock, Ranges, Reservation};
use self::texts::TextReader;
use crate::bytes::Bytes;
use crate::event::{Action, Event};
use crate::ids::{Address, DeviceIndex, Time};
use crate::run::OomRecord;
use crate::snapshot::{Segment, Snapshot};
use crate::stack::{StackId, StackTable};

/// A problem of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RecordingError {
    /// The file starts otherwise.
    #[error("not a recording of oomph's")]
    Magic,
    /// The file is of another version of oomph.
    #[error("version {found} of the recording; this oomph reads version {VERSION}")]
    Version {
        /// The version in the file.
        found: u32,
    },
    /// The file is shorter than its header states.
    #[error("the file has {found} bytes, and its header states {expected}")]
    Length {
        /// The length of the file.
        found: usize,
        /// The length by the header.
        expected: u64,
    },
}

/// The allocations of a process, up to the end of the recording.
#[derive(Clone, Debug)]
pub struct Recording {
    events: Vec<RecordedEvent>,
    blocks: Vec<RecordedBlock>,
    stacks: StackTable,
    /// The number of the first event in the ring.
    first: u64,
    started_micros: u64,
    step: u32,
    reserve: Reserve,
}

/// The lines for the agent's file that the process could not append there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reserve {
    /// The lines, each with its end.
    pub lines: Vec<u8>,
    /// The number of lines that found no room.
    pub lost: u64,
    /// The system's error that kept the first line from its file; 0 without one.
    pub error: u32,
}

#[derive(Clone, Copy, Debug)]
struct RecordedEvent {
    address: u64,
    change: i64,
    reserved: u64,
    stack: StackId,
    step: u32,
    millis: u32,
    kind: u8,
    device: u8,
}

/// An allocated block.
#[derive(Clone, Copy, Debug)]
struct RecordedBlock {
    address: u64,
    size: u64,
    stack: StackId,
    step: u32,
    device: u8,
}

/// Reads a recording. The process may still be writing, or may have been killed at any instant.
pub fn read_recording(file: &[u8]) -> Result<Recording, RecordingError> {
    let header = read_header(file)?;
    let (fields, starts_of_blocks, expected) = (Fields(file), header.locate_blocks().start, header.length());
    if (file.len() as u64) < expected {
        return Err(RecordingError::Length { found: file.len(), expected });
    }
    let part = |range: Range<u64>| &file[to_place(range.start)..to_place(range.end)];
    let mut texts = TextReader::new();
    texts.feed(part(header.locate_texts()));
    let stack_of = |number: u32| texts.stack(number);
    let slots = (header.first_event()..header.events).map(|number| to_place(header.locate_event(number)));
    let slots_of_blocks =
        (0..header.block_capacity).map(|index| to_place(starts_of_blocks) + to_place(index) * BLOCK_BYTES);
    Ok(Recording {
        events: slots.map(|at| read_event(fields, at, &stack_of)).collect(),
        blocks: slots_of_blocks.filter_map(|at| read_block(fields, at, &stack_of)).collect(),
        stacks: texts.into_stacks(),
        first: header.first_event(),
        started_micros: fields.u64(header::STARTED_MICROS),
        step: header.step,
        reserve: Reserve {
            lines: part(header.locate_reserve()).to_vec(),
            lost: fields.u64(header::LOST_LINES),
            error: fields.u32(header::APPEND_ERROR),
        },
    })
}

fn read_event(fields: Fields, at: usize, stack_of: &impl Fn(u32) -> StackId) -> RecordedEvent {
    RecordedEvent {
        address: fields.u64(at),
        change: fields.u64(at + 8).cast_signed(),
        reserved: fields.u64(at + 16),
        stack: stack_of(fields.u32(at + 24)),
        step: fields.u32(at + 28),
        millis: fields.u32(at + 32),
        kind: fields.u8(at + 36),
        device: fields.u8(at + 37),
    }
}

/// Reads a slot; `None` if it is empty.
fn read_block(fields: Fields, at: usize, stack_of: &impl Fn(u32) -> StackId) -> Option<RecordedBlock> {
    let (address, size) = (fields.u64(at), fields.u64(at + 8));
    let (stack, step) = (stack_of(fields.u32(at + 16)), fields.u32(at + 20));
    let block = RecordedBlock { address, size, stack, step, device: fields.u8(at + 24) };
    (address != 0).then_some(block)
}

/// An offset in a file in memory, whose length was compared.
fn to_place(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

impl Recording {
    /// The number of events since the start, overwritten events included.
    pub fn event_count(&self) -> u64 {
        self.first + self.events.len() as u64
    }

    /// The stacks of all allocations.
    pub fn stacks(&self) -> &StackTable {
        &self.stacks
    }

    /// The allocated blocks, in no order.
    pub fn list_held(&self) -> impl Iterator<Item = HeldMemory> {
        self.blocks.iter().map(|block| HeldMemory {
            device: block.device,
            bytes: block.size,
            stack: block.stack,
            step: block.step,
        })
    }

    /// The changes of the memory, oldest first, as far as the ring has them.
    pub fn list_changes(&self) -> impl Iterator<Item = BlockChange> {
        let of_blocks = self.events.iter().filter(|event| event.kind == KIND_MEMORY);
        of_blocks.map(|event| BlockChange {
            device: event.device,
            bytes: event.change,
            reserved_bytes: event.reserved,
            step: event.step,
        })
    }

    /// The number of completed optimizer steps.
    pub fn steps_done(&self) -> u32 {
        self.step.saturating_sub(1)
    }

    /// The lines that the agent's file lacks.
    pub fn reserve(&self) -> &Reserve {
        &self.reserve
    }

    /// True if the program did little after event number `at`: a process still allocates a few times while an error ends the program, and
    /// goes on allocating after a caught error.
    pub fn ends_with(&self, at: u64) -> bool {
        const FEW: usize = 1000;
        let after = usize::try_from(at.saturating_sub(self.first)).unwrap_or(usize::MAX);
        let after = self.events.get(after..).unwrap_or_default();
        after.iter().filter(|event| event.allocating().is_some()).count() <= FEW.min(self.events.len() / 4)
    }

    /// Turns the recording into a snapshot (Note `[Recorded snapshots]`). `dump`: PyTorch's own at event number `at`, behind which nothing
    /// is taken over. `ooms`: the agent's records, oldest first.
    pub fn into_snapshot(mut self, dump: Option<(Snapshot, u64)>, ooms: &[OomRecord]) -> Snapshot {
        let end = dump.as_ref().map_or(self.event_count(), |(_, at)| *at);
        self.events.truncate(usize::try_from(end.saturating_sub(self.first)).unwrap_or(usize::MAX));
        let dumped = dump.map(|(snapshot, _)| snapshot);
        let count = self.events.iter().map(|event| usize::from(event.device) + 1).max().unwrap_or_default();
        let (mut phases, mut segments) = (Phases::new(), Vec::new());
        let mut traces: Vec<Vec<Event>> = (0..count).map(|_| Vec::new()).collect();
        let marks: Vec<u32> =
            self.events.iter().map(|event| phases.mark(&self.stacks, event.step, event.allocating())).collect();
        for (device, trace) in (0..).zip(&mut traces) {
            let of_dump =
                |dump: &Snapshot| dump.segments.iter().filter(|it| it.device.0 == u32::from(device)).cloned().collect();
            let (changes, held) = self.list_segments(device, dumped.as_ref().map(of_dump).unwrap_or_default());
            *trace = self.trace(device, &marks, &changes, free_of(ooms, device));
            segments.extend(held);
        }
        let settings = dumped.map(|dump| dump.settings).unwrap_or_default();
        let marks = phases.into_marks();
        Snapshot { segments, traces, marks, stacks: self.stacks, settings, ..Snapshot::default() }
    }

    /// The segments of a device, and their changes during the history.
    fn list_segments(&self, device: u8, dump: Vec<Segment>) -> (Vec<Reservation>, Vec<Segment>) {
        let mut held: Vec<HeldBlock> =
            self.blocks.iter().filter(|block| block.device == device).map(RecordedBlock::held).collect();
        held.sort_unstable_by_key(|block| block.address);
        let mut ranges = Ranges::default();
        let of_device = self.events.iter().filter(|event| event.device == device);
        let seen: HashSet<u64> =
            of_device.filter(|event| event.allocating().is_some()).map(|event| event.address).collect();
        held.iter().filter(|block| !seen.contains(&block.address)).for_each(|block| ranges.note_older(*block));
        for (at, event) in self.events.iter().enumerate() {
            if event.device == device && event.kind == KIND_MEMORY {
                ranges.note(at, event.address, event.change, event.reserved);
            }
        }
        let dump = self.with_stacks(dump);
        ranges.finish(DeviceIndex(device.into()), dump, &held)
    }

    /// The history of a device: `marks` of all events, and the changes of its segments.
    fn trace(&self, device: u8, marks: &[u32], changes: &[Reservation], free: Vec<u64>) -> Vec<Event> {
        let (mut free, mut changes) = (free.into_iter(), changes.iter().peekable());
        let mut trace = Vec::new();
        for (at, (event, mark)) in self.events.iter().zip(marks).enumerate() {
            if event.device != device {
                continue;
            }
            while let Some(change) = changes.next_if(|change| change.before <= at) {
                let action = if change.is_reserved { Action::SegmentAlloc } else { Action::SegmentFree };
                let made = Event::new(action, Address(change.address), Bytes(change.size));
                trace.push(Event { mark: Some(*mark), ..made });
            }
            let all = self.translate(event, || free.next().unwrap_or_default());
            trace.extend(all.into_iter().flatten().map(|made| Event { mark: Some(*mark), ..made }));
        }
        trace
    }

    /// The events of PyTorch's history for an event of the recorder: a free is requested and completed at once.
    fn translate(&self, event: &RecordedEvent, free: impl FnOnce() -> u64) -> [Option<Event>; 2] {
        let size = Bytes(event.change.unsigned_abs());
        let time = Time::from_micros(self.started_micros.saturating_add(u64::from(event.millis) * 1000));
        let of =
            |action, address| Some(Event { stack: event.stack, time, ..Event::new(action, Address(address), size) });
        match (event.kind, event.change) {
            (KIND_MEMORY, 0..) => [of(Action::Alloc, event.address), None],
            (KIND_MEMORY, _) => [Action::FreeRequested, Action::FreeCompleted].map(|action| of(action, event.address)),
            (KIND_ERROR, _) => [of(Action::Oom, free()), None],
            _ => [None, None],
        }
    }

    /// Adds the stacks of blocks to the segments of a dump.
    fn with_stacks(&self, mut segments: Vec<Segment>) -> Vec<Segment> {
        let known: HashMap<(u32, u64), &RecordedBlock> =
            self.blocks.iter().map(|block| ((u32::from(block.device), block.address), block)).collect();
        for segment in &mut segments {
            let device = segment.device.0;
            for block in &mut segment.blocks {
                let found = known.get(&(device, block.address.0)).filter(|found| found.size == block.size.0);
                block.stack = found.map_or(StackId::EMPTY, |found| found.stack);
            }
        }
        segments
    }
}

impl RecordedEvent {
    /// The stack of an allocation, or of a request that failed; `None` of a free.
    fn allocating(&self) -> Option<StackId> {
        (self.change > 0).then_some(self.stack)
    }
}

impl RecordedBlock {
    fn held(&self) -> HeldBlock {
        HeldBlock { address: self.address, size: self.size, stack: self.stack }
    }
}

/// The free memory of a device at each of its errors.
fn free_of(ooms: &[OomRecord], device: u8) -> Vec<u64> {
    ooms.iter().filter(|oom| oom.device == u32::from(device)).map(|oom| oom.free_bytes).collect()
}
