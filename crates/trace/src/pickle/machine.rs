//! The stack machine that a pickle is a program for: its instructions, stack and memo.

mod containers;
mod scalars;

use super::error::{PickleError, PickleErrorKind};
use super::input::Input;
use super::value::{Chain, Document, Node, NodeId};
use super::{opcode, text};

type Step<T = ()> = Result<T, PickleErrorKind>;

/// Nodes that every document starts with, so that these values cost nothing more: `None`, `False`, `True`, 0 to 255.
const NONE: NodeId = NodeId(0);
const FALSE: NodeId = NodeId(1);
const TRUE: NodeId = NodeId(2);
const ZERO: u32 = 3;

struct Machine<'a> {
    input: Input<'a>,
    /// Where the instruction under way starts.
    offset: usize,
    stack: Vec<NodeId>,
    /// The height of the stack at each mark.
    marks: Vec<usize>,
    memo: Vec<Option<NodeId>>,
    memoized: usize,
    document: Document<'a>,
}

/// Runs the pickle at the start of `input`, which is shorter than `u32::MAX` bytes.
pub(super) fn run(input: &[u8]) -> Result<Document<'_>, PickleError> {
    let mut machine = Machine::new(input);
    loop {
        machine.offset = machine.input.position();
        match machine.step() {
            Ok(None) => {}
            Ok(Some(root)) => {
                return Ok(Document { root, ..machine.document });
            }
            Err(kind) => return Err(kind.at(machine.offset)),
        }
    }
}

/// The number of an element of a table. No table has more elements than the input has bytes, plus the first nodes.
fn number(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

fn rejection(opcode: u8) -> PickleErrorKind {
    let refused = opcode::refused(opcode);
    refused.map_or(PickleErrorKind::UnknownOpcode(opcode), |opcode| PickleErrorKind::Refused { opcode })
}

impl<'a> Machine<'a> {
    fn new(input: &'a [u8]) -> Machine<'a> {
        let constants = [Node::None, Node::Bool(false), Node::Bool(true)];
        let document = Document {
            nodes: constants.into_iter().chain((0..=255).map(Node::Int)).collect(),
            strings: Vec::new(),
            bytes: Vec::new(),
            wide: Vec::new(),
            items: Vec::new(),
            extents: Vec::new(),
            root: NONE,
        };
        let (stack, marks, memo) = (Vec::new(), Vec::new(), Vec::new());
        Machine { input: Input::new(input), offset: 0, stack, marks, memo, memoized: 0, document }
    }

    /// Runs one instruction; gives the result of the pickle when that was the last one.
    fn step(&mut self) -> Step<Option<NodeId>> {
        match self.input.u8()? {
            opcode::STOP => return self.pop().map(Some),
            opcode::PROTO => self.proto()?,
            opcode::FRAME => self.frame()?,
            opcode::MARK => self.marks.push(self.stack.len()),
            opcode::POP => self.pop_value_or_mark()?,
            opcode::POP_MARK => self.pop_mark()?,
            opcode::DUP => self.stack.push(self.top()?),
            opcode::NONE => self.stack.push(NONE),
            opcode::NEWTRUE => self.stack.push(TRUE),
            opcode::NEWFALSE => self.stack.push(FALSE),
            opcode::BININT1 => self.small_int()?,
            opcode::BININT2 => self.int_of::<2>(|bytes| u16::from_le_bytes(bytes).into())?,
            opcode::BININT => self.int_of::<4>(|bytes| i32::from_le_bytes(bytes).into())?,
            opcode::LONG1 => self.long_int(Input::length_u8)?,
            opcode::LONG4 => self.long_int(Input::length_i32)?,
            opcode::INT => self.text_int()?,
            opcode::LONG => self.text_long()?,
            opcode::FLOAT => self.text_float()?,
            opcode::BINFLOAT => self.float()?,
            opcode::SHORT_BINUNICODE | opcode::SHORT_BINSTRING => {
                self.string(Input::length_u8)?;
            }
            opcode::BINUNICODE => self.string(Input::length_u32)?,
            opcode::BINUNICODE8 => self.string(Input::length_u64)?,
            opcode::BINSTRING => self.string(Input::length_i32)?,
            opcode::UNICODE => self.text_string(|line| Ok(text::raw_unicode_escape(line)))?,
            opcode::STRING => self.text_string(text::quoted)?,
            opcode::SHORT_BINBYTES => self.byte_string(Input::length_u8)?,
            opcode::BINBYTES => self.byte_string(Input::length_u32)?,
            opcode::BINBYTES8 | opcode::BYTEARRAY8 => self.byte_string(Input::length_u64)?,
            opcode::EMPTY_LIST => self.push(Node::List(Chain::EMPTY)),
            opcode::EMPTY_TUPLE => self.push(Node::Tuple(Chain::EMPTY)),
            opcode::EMPTY_DICT => self.push(Node::Dict(Chain::EMPTY)),
            opcode::TUPLE1 => self.tuple_of(1)?,
            opcode::TUPLE2 => self.tuple_of(2)?,
            opcode::TUPLE3 => self.tuple_of(3)?,
            opcode::TUPLE => self.take_from_mark(Node::Tuple)?,
            opcode::LIST => self.take_from_mark(Node::List)?,
            opcode::DICT => self.dict_from_mark()?,
            opcode::APPEND => self.append()?,
            opcode::APPENDS => self.appends()?,
            opcode::SETITEM => self.set_item()?,
            opcode::SETITEMS => self.set_items()?,
            opcode::MEMOIZE => self.memoize(self.memoized as u64)?,
            opcode::BINPUT => self.input.u8().and_then(|index| self.memoize(index.into()))?,
            opcode::LONG_BINPUT => self.input.length_u32().and_then(|index| self.memoize(index))?,
            opcode::PUT => self.input.line().and_then(text::number).and_then(|index| self.memoize(index))?,
            opcode::BINGET => self.input.u8().and_then(|index| self.recall(index.into()))?,
            opcode::LONG_BINGET => self.input.length_u32().and_then(|index| self.recall(index))?,
            opcode::GET => self.input.line().and_then(text::number).and_then(|index| self.recall(index))?,
            other => return Err(rejection(other)),
        }
        Ok(None)
    }

    fn push(&mut self, node: Node) {
        let id = NodeId(number(self.document.nodes.len()));
        self.document.nodes.push(node);
        self.stack.push(id);
    }

    /// How many values lie below the last mark, out of reach.
    fn floor(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    fn top(&self) -> Step<NodeId> {
        let reachable = self.stack.get(self.floor()..).unwrap_or_default();
        reachable.last().copied().ok_or(PickleErrorKind::StackEmpty)
    }

    fn pop(&mut self) -> Step<NodeId> {
        let top = self.top()?;
        self.stack.pop();
        Ok(top)
    }

    fn pop_value_or_mark(&mut self) -> Step {
        if self.pop().is_err() && self.marks.pop().is_none() {
            return Err(PickleErrorKind::StackEmpty);
        }
        Ok(())
    }

    fn mark(&mut self) -> Step<usize> {
        self.marks.pop().ok_or(PickleErrorKind::NoMark)
    }

    fn pop_mark(&mut self) -> Step {
        let start = self.mark()?;
        self.stack.truncate(start);
        Ok(())
    }

    /// The height of the stack below its last `count` values.
    fn reach(&self, count: usize) -> Step<usize> {
        let start = self.stack.len().checked_sub(count).filter(|&start| start >= self.floor());
        start.ok_or(PickleErrorKind::StackEmpty)
    }

    fn proto(&mut self) -> Step {
        match self.input.u8()? {
            0..=5 => Ok(()),
            other => Err(PickleErrorKind::Protocol(other)),
        }
    }

    /// A frame only announces how many bytes follow; they are read as if it was not there.
    fn frame(&mut self) -> Step {
        let length = self.input.length_u64()?;
        self.input.expect(length)
    }

    fn memoize(&mut self, index: u64) -> Step {
        let top = self.top()?;
        let at =
            usize::try_from(index).ok().filter(|&at| at < self.input.len()).ok_or(PickleErrorKind::MemoIndex(index))?;
        if at >= self.memo.len() {
            self.memo.resize(at + 1, None);
        }
        self.memoized += usize::from(self.memo[at].is_none());
        self.memo[at] = Some(top);
        Ok(())
    }

    fn recall(&mut self, index: u64) -> Step {
        let entry = usize::try_from(index).ok().and_then(|at| self.memo.get(at).copied().flatten());
        self.stack.push(entry.ok_or(PickleErrorKind::MemoMissing(index))?);
        Ok(())
    }
}
