//! The stack machine that a pickle is a program for.

use std::borrow::Cow;

use super::error::{PickleError, PickleErrorKind};
use super::value::{Chain, Document, Extent, Node, NodeId};
use super::{opcode, text};

type Step<T = ()> = Result<T, PickleErrorKind>;

/// Nodes that every document starts with, so that these values cost nothing more: `None`, `False`, `True`, 0 to 255.
const NONE: NodeId = NodeId(0);
const FALSE: NodeId = NodeId(1);
const TRUE: NodeId = NodeId(2);
const ZERO: u32 = 3;

struct Machine<'a> {
    input: &'a [u8],
    at: usize,
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
        machine.offset = machine.at;
        match machine.step() {
            Ok(None) => {}
            Ok(Some(root)) => return Ok(Document { root, ..machine.document }),
            Err(kind) => return Err(kind.at(machine.offset)),
        }
    }
}

/// The number of an element of a table. No table has more elements than the input has bytes, plus the first nodes.
fn number(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
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
        Machine { input, at: 0, offset: 0, stack, marks, memo, memoized: 0, document }
    }

    /// Runs one instruction; gives the result of the pickle when that was the last one.
    fn step(&mut self) -> Step<Option<NodeId>> {
        match self.u8()? {
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
            opcode::LONG1 => self.long_int(|machine| machine.u8().map(u64::from))?,
            opcode::LONG4 => self.long_int(Self::length_i32)?,
            opcode::INT => self.text_int()?,
            opcode::LONG => self.text_long()?,
            opcode::FLOAT => self.text_float()?,
            opcode::BINFLOAT => self.float()?,
            opcode::SHORT_BINUNICODE | opcode::SHORT_BINSTRING => self.string(|machine| machine.u8().map(u64::from))?,
            opcode::BINUNICODE => self.string(Self::length_u32)?,
            opcode::BINUNICODE8 => self.string(Self::length_u64)?,
            opcode::BINSTRING => self.string(Self::length_i32)?,
            opcode::UNICODE => self.text_string(|line| Ok(text::raw_unicode_escape(line)))?,
            opcode::STRING => self.text_string(text::quoted)?,
            opcode::SHORT_BINBYTES => self.byte_string(|machine| machine.u8().map(u64::from))?,
            opcode::BINBYTES => self.byte_string(Self::length_u32)?,
            opcode::BINBYTES8 | opcode::BYTEARRAY8 => self.byte_string(Self::length_u64)?,
            opcode::EMPTY_LIST => self.push(Node::List(Chain::EMPTY)),
            opcode::EMPTY_TUPLE => self.push(Node::Tuple(Chain::EMPTY)),
            opcode::EMPTY_DICT => self.push(Node::Dict(Chain::EMPTY)),
            opcode::TUPLE1 => self.tuple_of(1)?,
            opcode::TUPLE2 => self.tuple_of(2)?,
            opcode::TUPLE3 => self.tuple_of(3)?,
            opcode::TUPLE => self.from_mark(Node::Tuple)?,
            opcode::LIST => self.from_mark(Node::List)?,
            opcode::DICT => self.dict_from_mark()?,
            opcode::APPEND => self.append()?,
            opcode::APPENDS => self.appends()?,
            opcode::SETITEM => self.set_item()?,
            opcode::SETITEMS => self.set_items()?,
            opcode::MEMOIZE => self.memoize(self.memoized as u64)?,
            opcode::BINPUT => self.u8().and_then(|index| self.memoize(index.into()))?,
            opcode::LONG_BINPUT => self.length_u32().and_then(|index| self.memoize(index))?,
            opcode::PUT => self.line().and_then(text::number).and_then(|index| self.memoize(index))?,
            opcode::BINGET => self.u8().and_then(|index| self.recall(index.into()))?,
            opcode::LONG_BINGET => self.length_u32().and_then(|index| self.recall(index))?,
            opcode::GET => self.line().and_then(text::number).and_then(|index| self.recall(index))?,
            other => return Err(opcode::refused(other).map_or(PickleErrorKind::UnknownOpcode(other), |opcode| PickleErrorKind::Refused { opcode })),
        }
        Ok(None)
    }

    // Bytes of the input.

    fn u8(&mut self) -> Step<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn array<const N: usize>(&mut self) -> Step<[u8; N]> {
        let rest = self.input.get(self.at..).unwrap_or_default();
        let (&bytes, _) = rest.split_first_chunk().ok_or_else(|| self.truncated(N as u64))?;
        self.at += N;
        Ok(bytes)
    }

    fn take(&mut self, length: u64) -> Step<&'a [u8]> {
        let end = usize::try_from(length).ok().and_then(|length| self.at.checked_add(length));
        let taken = end.and_then(|end| self.input.get(self.at..end)).ok_or_else(|| self.truncated(length))?;
        self.at += taken.len();
        Ok(taken)
    }

    /// The text up to the end of the line, which is skipped.
    fn line(&mut self) -> Step<&'a [u8]> {
        let rest = self.input.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|&byte| byte == b'\n').ok_or_else(|| self.truncated(rest.len() as u64 + 1))?;
        self.at += length + 1;
        Ok(&rest[..length])
    }

    fn truncated(&self, needed: u64) -> PickleErrorKind {
        PickleErrorKind::Truncated { needed, left: self.input.len().saturating_sub(self.at) }
    }

    fn length_u32(&mut self) -> Step<u64> {
        self.array().map(|bytes| u32::from_le_bytes(bytes).into())
    }

    fn length_u64(&mut self) -> Step<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn length_i32(&mut self) -> Step<u64> {
        let length = self.array().map(i32::from_le_bytes)?;
        u64::try_from(length).map_err(|_| PickleErrorKind::NegativeLength(length))
    }

    // The stack.

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

    // Numbers and strings.

    fn proto(&mut self) -> Step {
        match self.u8()? {
            0..=5 => Ok(()),
            other => Err(PickleErrorKind::Protocol(other)),
        }
    }

    /// A frame only announces how many bytes follow; they are read as if it was not there.
    fn frame(&mut self) -> Step {
        let length = self.length_u64()?;
        let left = self.input.len().saturating_sub(self.at);
        if length > left as u64 { Err(self.truncated(length)) } else { Ok(()) }
    }

    fn small_int(&mut self) -> Step {
        let value = self.u8()?;
        self.stack.push(NodeId(ZERO + u32::from(value)));
        Ok(())
    }

    fn int_of<const N: usize>(&mut self, value: fn([u8; N]) -> i64) -> Step {
        let bytes = self.array()?;
        self.push(Node::Int(value(bytes)));
        Ok(())
    }

    fn long_int(&mut self, length: fn(&mut Self) -> Step<u64>) -> Step {
        let length = length(self)?;
        let value = text::long(self.take(length)?)?;
        self.push_int(value);
        Ok(())
    }

    fn push_int(&mut self, value: i128) {
        let node = i64::try_from(value).map_or_else(|_| self.wide(value), Node::Int);
        self.push(node);
    }

    fn wide(&mut self, value: i128) -> Node {
        self.document.wide.push(value);
        Node::Wide(number(self.document.wide.len() - 1))
    }

    /// Protocols 0 and 1 write booleans as the integers `00` and `01`.
    fn text_int(&mut self) -> Step {
        match self.line()? {
            b"00" => self.stack.push(FALSE),
            b"01" => self.stack.push(TRUE),
            line => self.push_int(text::number(line)?),
        }
        Ok(())
    }

    fn text_long(&mut self) -> Step {
        let line = self.line()?;
        self.push_int(text::number(line.strip_suffix(b"L").unwrap_or(line))?);
        Ok(())
    }

    fn text_float(&mut self) -> Step {
        let value = self.line().and_then(text::number)?;
        self.push(Node::Float(value));
        Ok(())
    }

    fn float(&mut self) -> Step {
        let value = self.array().map(f64::from_be_bytes)?;
        self.push(Node::Float(value));
        Ok(())
    }

    fn string(&mut self, length: fn(&mut Self) -> Step<u64>) -> Step {
        let length = length(self)?;
        let bytes = self.take(length)?;
        self.push_string(text::utf8(bytes));
        Ok(())
    }

    fn text_string(&mut self, decode: fn(&'a [u8]) -> Step<Cow<'a, str>>) -> Step {
        let string = decode(self.line()?)?;
        self.push_string(string);
        Ok(())
    }

    fn push_string(&mut self, string: Cow<'a, str>) {
        let at = number(self.document.strings.len());
        self.document.strings.push(string);
        self.push(Node::Str(at));
    }

    fn byte_string(&mut self, length: fn(&mut Self) -> Step<u64>) -> Step {
        let length = length(self)?;
        let bytes = self.take(length)?;
        let at = number(self.document.bytes.len());
        self.document.bytes.push(bytes);
        self.push(Node::Bytes(at));
        Ok(())
    }
}

/// Containers.
impl Machine<'_> {
    /// Moves the values above `start` off the stack into a new extent; [`Extent::NONE`] where there are none.
    fn extent_from(&mut self, start: usize) -> u32 {
        let first = number(self.document.items.len());
        self.document.items.extend(self.stack.drain(start..));
        let end = number(self.document.items.len());
        if first == end {
            return Extent::NONE;
        }
        let offset = number(self.offset);
        self.document.extents.push(Extent { start: first, end, next: Extent::NONE, offset });
        number(self.document.extents.len() - 1)
    }

    fn tuple_of(&mut self, count: usize) -> Step {
        let start = self.reach(count)?;
        let extent = self.extent_from(start);
        self.push(Node::Tuple(Chain { first: extent, last: extent }));
        Ok(())
    }

    fn from_mark(&mut self, container: fn(Chain) -> Node) -> Step {
        let start = self.mark()?;
        let extent = self.extent_from(start);
        self.push(container(Chain { first: extent, last: extent }));
        Ok(())
    }

    fn dict_from_mark(&mut self) -> Step {
        self.pairs_above(self.floor())?;
        self.from_mark(Node::Dict)
    }

    fn pairs_above(&self, start: usize) -> Step {
        let count = self.stack.len() - start.min(self.stack.len());
        if count % 2 == 0 { Ok(()) } else { Err(PickleErrorKind::OddPairs(count)) }
    }

    fn append(&mut self) -> Step {
        let start = self.reach(1)?;
        self.add_to_list(start)
    }

    fn appends(&mut self) -> Step {
        let start = self.mark()?;
        self.add_to_list(start)
    }

    fn set_item(&mut self) -> Step {
        let start = self.reach(2)?;
        self.add_to_dict(start)
    }

    fn set_items(&mut self) -> Step {
        let start = self.mark()?;
        self.pairs_above(start)?;
        self.add_to_dict(start)
    }

    fn add_to_list(&mut self, start: usize) -> Step {
        self.add(start, "list", |node| if let Node::List(chain) = node { Some(chain) } else { None })
    }

    fn add_to_dict(&mut self, start: usize) -> Step {
        self.add(start, "dict", |node| if let Node::Dict(chain) = node { Some(chain) } else { None })
    }

    /// Moves the values above `start` into the container below them.
    fn add(&mut self, start: usize, expected: &'static str, chain_of: fn(&mut Node) -> Option<&mut Chain>) -> Step {
        let extent = self.extent_from(start);
        let target = self.top()?;
        let node = self.document.nodes.get_mut(target.index()).ok_or(PickleErrorKind::StackEmpty)?;
        let found = node.kind();
        let chain = chain_of(node).ok_or(PickleErrorKind::WrongTarget { expected, found })?;
        if extent == Extent::NONE {
            return Ok(());
        }
        if let Some(last) = self.document.extents.get_mut(chain.last as usize) {
            last.next = extent;
        } else {
            chain.first = extent;
        }
        chain.last = extent;
        Ok(())
    }

    fn memoize(&mut self, index: u64) -> Step {
        let top = self.top()?;
        let at = usize::try_from(index).ok().filter(|&at| at < self.input.len()).ok_or(PickleErrorKind::MemoIndex(index))?;
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
