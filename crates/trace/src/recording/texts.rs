//! The texts of a recording: places and stacks.

use wire::recording::{PLACE, STACK};

use super::bytes::Fields;
use crate::stack::{Frame, FrameId, StackId, StackTable};

/// Reads places and stacks as they are appended.
#[derive(Clone, Debug)]
pub(super) struct TextReader {
    stacks: StackTable,
    places: Vec<FrameId>,
    numbers: Vec<StackId>,
    read_bytes: u64,
}

impl TextReader {
    pub(super) fn new() -> TextReader {
        TextReader { stacks: StackTable::default(), places: Vec::new(), numbers: vec![StackId::EMPTY], read_bytes: 0 }
    }

    /// Reads the texts behind those read so far, up to the first damaged entry.
    pub(super) fn feed(&mut self, mut texts: &[u8]) {
        let length = texts.len();
        while let Some((&tag, rest)) = texts.split_first() {
            let read = match tag {
                PLACE => read_place(rest).map(|(frame, rest)| {
                    self.places.push(self.stacks.intern_frame(frame));
                    rest
                }),
                STACK => read_stack(rest, &self.places).map(|(stack, rest)| {
                    self.numbers.push(self.stacks.intern_stack(&stack));
                    rest
                }),
                _ => None,
            };
            let Some(rest) = read else { break };
            texts = rest;
        }
        self.read_bytes += (length - texts.len()) as u64;
    }

    /// The length of the texts read so far.
    pub(super) fn read_bytes(&self) -> u64 {
        self.read_bytes
    }

    pub(super) fn stacks(&self) -> &StackTable {
        &self.stacks
    }

    /// The stack of a number in the recording.
    pub(super) fn stack(&self, number: u32) -> StackId {
        self.numbers.get(number as usize).copied().unwrap_or(StackId::EMPTY)
    }

    pub(super) fn into_stacks(self) -> StackTable {
        self.stacks
    }
}

fn read_place(body: &[u8]) -> Option<(Frame, &[u8])> {
    let (head, rest) = body.split_at_checked(8)?;
    let fields = Fields(head);
    let (file, rest) = rest.split_at_checked(usize::from(fields.u16(4)))?;
    let (function, rest) = rest.split_at_checked(usize::from(fields.u16(6)))?;
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    Some((Frame { function: text(function), file: text(file), line: fields.u32(0) }, rest))
}

fn read_stack<'a>(body: &'a [u8], places: &[FrameId]) -> Option<(Vec<FrameId>, &'a [u8])> {
    let (head, rest) = body.split_at_checked(2)?;
    let (numbers, rest) = rest.split_at_checked(4 * usize::from(Fields(head).u16(0)))?;
    let place = |at: usize| places.get((Fields(numbers).u32(at) as usize).checked_sub(1)?).copied();
    Some(((0..numbers.len()).step_by(4).filter_map(place).collect(), rest))
}
