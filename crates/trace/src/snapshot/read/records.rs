//! Folds containers of a snapshot into records as they close. Note [Folding containers].

use std::ops::Range;

use super::event::EventReader;
use super::fields::{FieldValue, WrongValue};
use super::frames::Frames;
use super::names::Name;
use super::pools::Pools;
use super::record::{Arena, Record};
use crate::bytes::Bytes;
use crate::event::Event;
use crate::ids::Address;
use crate::pickle::{Fold, Slot};
use crate::snapshot::{Block, BlockState};
use crate::stack::StackId;

/// A block. Before 2.1 the address is not stated, and follows from the blocks before.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadBlock {
    pub(super) block: Block,
    pub(super) placed: bool,
}

/// All records of a snapshot.
#[derive(Default)]
pub(super) struct Records {
    pub(super) events: Vec<Event>,
    pub(super) blocks: Vec<ReadBlock>,
    pub(super) ranges: Vec<Range<u32>>,
    pub(super) frames: Frames,
    pub(super) pools: Pools,
    pub(super) reader: EventReader,
}

/// The most events, of 48 bytes each. A snapshot with this number has more than 6 GB.
const MOST_EVENTS: usize = 1 << 26;
/// The length up to which a list of frames may be added in several steps (Python's pickler adds a thousand at once).
const MOST_FRAMES: usize = 1 << 16;

/// The kind of a dict, recognised by a key that only this kind has.
#[derive(Clone, Copy)]
enum Shape {
    Event,
    Frame,
    Block,
}

fn shape(pairs: &[Slot<Record>]) -> Option<Shape> {
    let mut keys = pairs.iter().step_by(2);
    keys.find_map(|&key| match Name::of(key)? {
        Name::Action => Some(Shape::Event),
        Name::Filename => Some(Shape::Frame),
        Name::State => Some(Shape::Block),
        _ => None,
    })
}

impl Fold for Records {
    type Folded = Record;

    /// Leaves malformed dicts to the walk, which reports their path.
    fn dict(&mut self, arena: &Arena, pairs: &[Slot<Record>]) -> Option<Record> {
        match shape(pairs)? {
            Shape::Frame => self.frames.frame_of(arena, pairs).ok().map(Record::Frame),
            Shape::Event if self.events.len() < MOST_EVENTS => {
                let event = self.read_event(arena, pairs).ok()?;
                self.events.push(event);
                Some(Record::Event(last(self.events.len())))
            }
            Shape::Block if self.blocks.len() < MOST_EVENTS => {
                let block = self.read_block(arena, pairs).ok()?;
                self.blocks.push(block);
                Some(Record::Block(last(self.blocks.len())))
            }
            Shape::Event | Shape::Block => None,
        }
    }

    fn list(&mut self, arena: &Arena, before: Option<Record>, added: &[Slot<Record>]) -> Option<Record> {
        let Some(&first) = added.first() else { return before };
        match (before, arena.folded(first)) {
            (None, Some(Record::Frame(_))) => self.stack(arena, StackId::EMPTY, added),
            (Some(Record::Stack(inner)), Some(Record::Frame(_))) => self.stack(arena, inner, added),
            (_, Some(Record::Event(first))) => {
                let range = if let Some(Record::Events(range)) = before { Some(range) } else { None };
                let run = consecutive(arena, added, first, Record::Event)?;
                self.range(before.is_some(), range, run).map(Record::Events)
            }
            (_, Some(Record::Block(first))) => {
                let range = if let Some(Record::Blocks(range)) = before { Some(range) } else { None };
                let run = consecutive(arena, added, first, Record::Block)?;
                self.range(before.is_some(), range, run).map(Record::Blocks)
            }
            // JSON has no tuples.
            (None, None) => self.tuple(arena, added),
            _ => None,
        }
    }

    fn tuple(&mut self, _: &Arena, items: &[Slot<Record>]) -> Option<Record> {
        let &[Slot::Int(first), Slot::Int(second)] = items else { return None };
        self.pools.intern(first, second).map(Record::Pool)
    }

    fn unfold(&self, list: Record) -> Option<Vec<Slot<Record>>> {
        let range = |number: u32| self.ranges.get(number as usize).cloned().unwrap_or_default();
        match list {
            Record::Stack(stack) => {
                Some(self.frames.ids(stack).iter().map(|&id| Slot::Folded(Record::Frame(id))).collect())
            }
            Record::Events(number) => Some(range(number).map(|event| Slot::Folded(Record::Event(event))).collect()),
            Record::Blocks(number) => Some(range(number).map(|block| Slot::Folded(Record::Block(block))).collect()),
            Record::Frame(_) | Record::Pool(_) | Record::Event(_) | Record::Block(_) => None,
        }
    }
}

/// The number of the last of `count` elements.
fn last(count: usize) -> u32 {
    u32::try_from(count.saturating_sub(1)).unwrap_or(u32::MAX)
}

/// The numbers of records that are numbered consecutively.
fn consecutive(arena: &Arena, values: &[Slot<Record>], first: u32, record: fn(u32) -> Record) -> Option<Range<u32>> {
    let range = first..first.checked_add(u32::try_from(values.len()).ok()?)?;
    let same = |(&value, number)| arena.folded(value) == Some(record(number));
    values.iter().zip(range.clone()).all(same).then_some(range)
}

impl Records {
    pub(super) fn read_event(&mut self, arena: &Arena, pairs: &[Slot<Record>]) -> Result<Event, WrongValue> {
        self.reader.read(arena, pairs, &mut self.frames, &mut self.pools)
    }

    /// The stack of `inner` followed by the frames of `added`, further out.
    fn stack(&mut self, arena: &Arena, inner: StackId, added: &[Slot<Record>]) -> Option<Record> {
        let before = self.frames.ids(inner).len();
        if before > 0 && before + added.len() > MOST_FRAMES {
            return None;
        }
        self.frames.extend(arena, inner, added).map(Record::Stack)
    }

    /// Extends a range by `run`, or begins one for a new list; returns its number.
    fn range(&mut self, goes_on: bool, range: Option<u32>, run: Range<u32>) -> Option<u32> {
        if !goes_on {
            self.ranges.push(run);
            return Some(last(self.ranges.len()));
        }
        let known = self.ranges.get_mut(range? as usize).filter(|known| known.end == run.start)?;
        known.end = run.end;
        range
    }

    pub(super) fn read_block(&mut self, arena: &Arena, pairs: &[Slot<Record>]) -> Result<ReadBlock, WrongValue> {
        let mut draft = BlockDraft::default();
        for pair in pairs.chunks_exact(2) {
            let &[key, slot] = pair else { continue };
            if let Some(name) = Name::of(key) {
                self.block_field(&mut draft, name, FieldValue::new(arena, slot))
                    .map_err(|error| error.inside(name.as_str()))?;
            }
        }
        draft.finish()
    }

    fn block_field(&mut self, draft: &mut BlockDraft, name: Name, value: FieldValue<'_>) -> Result<(), WrongValue> {
        match name {
            Name::Address => draft.address = Some(value.address()?),
            Name::Size => draft.size = Some(value.byte_count()?),
            Name::RequestedSize => draft.requested = Some(value.byte_count()?),
            Name::State => draft.state = Some(value.block_state()?),
            Name::Frames => draft.stack = self.frames.stack(value)?,
            Name::History => draft.stack = self.frames.latest_of_history(value)?,
            _ => {}
        }
        Ok(())
    }
}

#[derive(Default)]
struct BlockDraft {
    address: Option<Address>,
    size: Option<Bytes>,
    requested: Option<Bytes>,
    state: Option<BlockState>,
    stack: StackId,
}

impl BlockDraft {
    fn finish(self) -> Result<ReadBlock, WrongValue> {
        let size = self.size.ok_or_else(|| WrongValue::missing("size"))?;
        let state = self.state.ok_or_else(|| WrongValue::missing("state"))?;
        let (address, requested_size) = (self.address.unwrap_or_default(), self.requested.unwrap_or(size));
        let block = Block { address, size, requested_size, state, stack: self.stack };
        Ok(ReadBlock { block, placed: self.address.is_some() })
    }
}
