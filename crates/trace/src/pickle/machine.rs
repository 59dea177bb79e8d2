//! The stack machine of pickles: its instructions and marks. Containers belong to the builder.

mod containers;
mod scalars;

use std::io::Read;

use super::arena::Slot;
use super::builder::{Fold, ValueBuilder};
use super::error::{PickleError, PickleErrorKind};
use super::memo::Memo;
use super::source::PickleInput;
use super::{opcode, text};

type Step<T = ()> = Result<T, PickleErrorKind>;

struct Machine<R, F: Fold> {
    input: PickleInput<R>,
    /// The offset of the current instruction.
    offset: u64,
    builder: ValueBuilder<F>,
    /// The height of the stack at each mark.
    marks: Vec<usize>,
    memo: Memo<F::Folded>,
}

/// Runs the pickle at the start of `input`; returns its value and the builder.
pub(super) fn run<R: Read, F: Fold>(
    input: R,
    builder: ValueBuilder<F>,
) -> Result<(Slot<F::Folded>, ValueBuilder<F>), PickleError> {
    let input = PickleInput::new(input, builder.limits.text);
    let mut machine = Machine { input, offset: 0, builder, marks: Vec::new(), memo: Memo::new() };
    match machine.run() {
        Ok(root) => Ok((root, machine.builder)),
        Err(kind) => Err(kind.at(machine.offset)),
    }
}

#[cold]
fn rejection(opcode: u8) -> PickleErrorKind {
    let refused = opcode::rejected_name(opcode);
    refused.map_or(PickleErrorKind::UnknownOpcode(opcode), |opcode| PickleErrorKind::Refused { opcode })
}

impl<R: Read, F: Fold> Machine<R, F> {
    /// Runs instructions until STOP, which returns the value on the stack.
    fn run(&mut self) -> Step<Slot<F::Folded>> {
        loop {
            self.offset = self.input.position();
            match self.input.u8()? {
                opcode::BINGET => self.input.length_u8().and_then(|index| self.recall(index))?,
                opcode::LONG_BINGET => self.recall_all()?,
                opcode::MEMOIZE => self.memoize(self.memo.entry_count() as u64)?,
                opcode::BININT1 => self.input.u8().and_then(|value| self.builder.push(Slot::Int(value.into())))?,
                opcode::BININT2 => self.int_of::<2>(|bytes| u16::from_le_bytes(bytes).into())?,
                opcode::BININT => self.int_of::<4>(|bytes| i32::from_le_bytes(bytes).into())?,
                opcode::LONG1 => self.long_int()?,
                opcode::MARK => self.push_mark()?,
                opcode::EMPTY_DICT => self.builder.push_dict()?,
                opcode::EMPTY_LIST => self.builder.push_list()?,
                opcode::SETITEMS => self.set_items()?,
                opcode::APPENDS => self.appends()?,
                opcode::SHORT_BINUNICODE | opcode::SHORT_BINSTRING => self.string(PickleInput::length_u8)?,
                opcode::TUPLE2 => self.tuple_of(2)?,
                opcode::BINPUT => self.input.length_u8().and_then(|index| self.memoize(index))?,
                opcode::LONG_BINPUT => self.input.length_u32().and_then(|index| self.memoize(index))?,
                opcode::STOP => return self.pop(),
                rare => self.rare(rare)?,
            }
        }
    }

    /// The rare instructions of a snapshot.
    #[inline(never)]
    fn rare(&mut self, opcode: u8) -> Step {
        match opcode {
            opcode::PROTO => self.proto(),
            // A frame only announces how many bytes follow; the reader ignores it.
            opcode::FRAME => self.input.length_u64().map(|_| ()),
            opcode::POP => self.pop_value_or_mark(),
            opcode::POP_MARK => self.mark().map(|start| self.builder.stack.truncate(start)),
            opcode::DUP => self.peek_top().and_then(|top| self.push(top)),
            opcode::NONE => self.push(Slot::None),
            opcode::NEWTRUE => self.push(Slot::Bool(true)),
            opcode::NEWFALSE => self.push(Slot::Bool(false)),
            opcode::LONG4 => self.input.length_i32().and_then(|length| self.long_of(length)),
            opcode::INT => self.text_int(),
            opcode::LONG => self.text_long(),
            opcode::FLOAT => {
                self.input.read_line().and_then(text::number).and_then(|value| self.push(Slot::Float(value)))
            }
            opcode::BINFLOAT => self.input.array().and_then(|bytes| self.push(Slot::Float(f64::from_be_bytes(bytes)))),
            opcode::BINUNICODE => self.string(PickleInput::length_u32),
            opcode::BINUNICODE8 => self.string(PickleInput::length_u64),
            opcode::BINSTRING => self.string(PickleInput::length_i32),
            opcode::UNICODE => self.text_string(|line| Ok(text::raw_unicode_escape(line))),
            opcode::STRING => self.text_string(text::quoted),
            opcode::SHORT_BINBYTES => self.byte_string(PickleInput::length_u8),
            opcode::BINBYTES => self.byte_string(PickleInput::length_u32),
            opcode::BINBYTES8 | opcode::BYTEARRAY8 => self.byte_string(PickleInput::length_u64),
            opcode::EMPTY_TUPLE => self.tuple_of(0),
            opcode::TUPLE1 => self.tuple_of(1),
            opcode::TUPLE3 => self.tuple_of(3),
            opcode::TUPLE => self.mark().and_then(|start| self.builder.tuple(start)),
            opcode::LIST => self.mark().and_then(|start| self.builder.list(start)),
            opcode::DICT => self.dict_from_mark(),
            opcode::APPEND => self.reach(1).and_then(|start| self.builder.add_to_list(self.above_mark(start)?)),
            opcode::SETITEM => self.reach(2).and_then(|start| self.builder.add_pair(self.above_mark(start)?)),
            opcode::PUT => self.input.read_line().and_then(text::number).and_then(|index| self.memoize(index)),
            opcode::GET => self.input.read_line().and_then(text::number).and_then(|index| self.recall(index)),
            other => Err(rejection(other)),
        }
    }

    fn push(&mut self, slot: Slot<F::Folded>) -> Step {
        self.builder.push(slot)
    }

    fn proto(&mut self) -> Step {
        match self.input.u8()? {
            0..=5 => Ok(()),
            other => Err(PickleErrorKind::Protocol(other)),
        }
    }
}
