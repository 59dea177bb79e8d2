//! The texts of a recording: places and stacks.

use wire::recording::{PLACE, STACK};

use super::bytes::Fields;
use crate::stack::{Frame, FrameId, StackId, StackTable};

/// Reads the places and stacks, up to the first damaged entry: the stacks, and the stack of each number.
pub(super) fn read_texts(mut texts: &[u8]) -> (StackTable, Vec<StackId>) {
    let (mut table, mut places, mut numbers) = (StackTable::default(), Vec::new(), vec![StackId::EMPTY]);
    while let Some((&tag, rest)) = texts.split_first() {
        let read = match tag {
            PLACE => read_place(rest).map(|(frame, rest)| {
                places.push(table.intern_frame(frame));
                rest
            }),
            STACK => read_stack(rest, &places).map(|(stack, rest)| {
                numbers.push(table.intern_stack(&stack));
                rest
            }),
            _ => None,
        };
        let Some(rest) = read else { break };
        texts = rest;
    }
    (table, numbers)
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
