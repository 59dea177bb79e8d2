//! Reads the pickle that `torch.cuda.memory._dump_snapshot` writes, of PyTorch 2.0 to 2.15.
//!
//! Keys that a version lacks are left at their defaults; keys that a newer one adds are passed over. What is there but
//! of the wrong type is an error that names its place, such as `device_traces[0][17].size`.

mod fields;
mod frames;
mod settings;

use std::collections::HashMap;

use self::fields::{Fields, Place};
pub use self::fields::{SnapshotError, WrongValue};
use self::frames::Frames;
use super::{Block, BlockState, Segment, SegmentKind, Snapshot};
use crate::bytes::Bytes;
use crate::event::{Action, Event, Mark};
use crate::ids::{Address, DeviceIndex, Stream};
use crate::pickle::{self, Document, NodeId, Value};
use crate::stack::StackId;

/// Reads a snapshot from its pickle.
///
/// Takes the dict of PyTorch 2.0 and later as well as the bare list of segments of versions before.
pub fn read_snapshot(mut input: impl std::io::Read) -> Result<Snapshot, SnapshotError> {
    let mut pickle = Vec::new();
    input.read_to_end(&mut pickle).map_err(|error| SnapshotError::Read(error.to_string()))?;
    let document = pickle::decode(&pickle)?;
    let root = document.root();
    if root.entries().is_none() && root.items().is_none() {
        return Err(SnapshotError::NotASnapshot { found: root.kind() });
    }
    let mut reader = Reader::new(&document);
    reader.read(root)?;
    Ok(reader.finish())
}

struct Reader {
    snapshot: Snapshot,
    frames: Frames,
    mark_of_text: HashMap<NodeId, Option<u32>>,
    marks: HashMap<Mark, u32>,
    /// How many more things may be read. No honest snapshot shares events or blocks, so there are at most as many as
    /// the document has items; one that shares them could ask for the square of it.
    left: usize,
}

impl Reader {
    fn new(document: &Document<'_>) -> Reader {
        Reader {
            snapshot: Snapshot::default(),
            frames: Frames::new(document),
            mark_of_text: HashMap::new(),
            marks: HashMap::new(),
            left: document.item_count(),
        }
    }

    fn finish(self) -> Snapshot {
        let mut snapshot = self.snapshot;
        snapshot.stacks = self.frames.into_table();
        snapshot.segments.sort_by_key(|segment| (segment.device, segment.address));
        // Versions without settings (before 2.3) still say what their segments are.
        snapshot.settings.expandable_segments |= snapshot.segments.iter().any(|segment| segment.is_expandable);
        snapshot
    }

    fn read(&mut self, root: Value<'_>) -> Result<(), WrongValue> {
        if root.entries().is_none() {
            return self.segments(root);
        }
        let mut has_segments = false;
        for (key, value) in Fields::of(root)? {
            match key {
                "segments" => {
                    has_segments = true;
                    self.segments(value).within(key)?;
                }
                "device_traces" => self.traces(value).within(key)?,
                "allocator_settings" => {
                    self.snapshot.settings = settings::read(value).within(key)?;
                }
                _ => {}
            }
        }
        if has_segments { Ok(()) } else { Err(WrongValue::missing("segments")) }
    }

    fn segments(&mut self, list: Value<'_>) -> Result<(), WrongValue> {
        for (index, value) in fields::items(list)?.enumerate() {
            let segment = self.segment(value).within_item(index)?;
            self.snapshot.segments.push(segment);
        }
        Ok(())
    }

    fn segment(&mut self, value: Value<'_>) -> Result<Segment, WrongValue> {
        self.count()?;
        let (mut device, mut address, mut total_size, mut kind) = (DeviceIndex(0), None, None, SegmentKind::Large);
        let (mut stream, mut is_expandable, mut blocks, mut allocated) = (Stream(0), false, None, None);
        for (key, value) in Fields::of(value)? {
            match key {
                "device" => device = DeviceIndex(fields::u32(value).within(key)?),
                "address" => address = Some(fields::address(value).within(key)?),
                "total_size" => total_size = Some(fields::bytes(value).within(key)?),
                "allocated_size" => allocated = Some(fields::bytes(value).within(key)?),
                "stream" => stream = Stream(fields::address(value).within(key)?.0),
                "segment_type" => kind = segment_kind(value).within(key)?,
                "is_expandable" => is_expandable = fields::bool(value).within(key)?,
                "blocks" => blocks = Some(value),
                _ => {}
            }
        }
        let address = address.ok_or_else(|| WrongValue::missing("address"))?;
        let total_size = total_size.ok_or_else(|| WrongValue::missing("total_size"))?;
        let blocks = blocks.ok_or_else(|| WrongValue::missing("blocks"))?;
        let blocks = self.blocks(blocks, address).within("blocks")?;
        let allocated_size = allocated.unwrap_or_else(|| sum_of_allocated(&blocks));
        Ok(Segment { device, address, total_size, allocated_size, stream, kind, is_expandable, blocks })
    }

    /// The blocks of the segment at `start`. Before 2.1 they do not state their addresses: they follow each other.
    fn blocks(&mut self, list: Value<'_>, start: Address) -> Result<Vec<Block>, WrongValue> {
        let mut next = start;
        let mut blocks = Vec::new();
        for (index, value) in fields::items(list)?.enumerate() {
            let block = self.block(value, next).within_item(index)?;
            next = block.address.offset(block.size.0);
            blocks.push(block);
        }
        Ok(blocks)
    }

    fn block(&mut self, value: Value<'_>, expected: Address) -> Result<Block, WrongValue> {
        self.count()?;
        let (mut address, mut size, mut requested, mut state) = (expected, None, None, None);
        let mut stack = StackId::EMPTY;
        for (key, value) in Fields::of(value)? {
            match key {
                "address" => address = fields::address(value).within(key)?,
                "size" => size = Some(fields::bytes(value).within(key)?),
                "requested_size" => requested = Some(fields::bytes(value).within(key)?),
                "state" => state = Some(block_state(value).within(key)?),
                "frames" => stack = self.frames.stack(value).within(key)?,
                "history" => stack = self.history(value).within(key)?,
                _ => {}
            }
        }
        let size = size.ok_or_else(|| WrongValue::missing("size"))?;
        let state = state.ok_or_else(|| WrongValue::missing("state"))?;
        Ok(Block { address, size, requested_size: requested.unwrap_or(size), state, stack })
    }

    /// Up to 2.0 a block has a list of what it was used for, the latest first.
    fn history(&mut self, list: Value<'_>) -> Result<StackId, WrongValue> {
        match fields::items(list)?.next().and_then(|latest| latest.get("frames")) {
            Some(frames) => self.frames.stack(frames).within("frames").within_item(0),
            None => Ok(StackId::EMPTY),
        }
    }

    fn traces(&mut self, list: Value<'_>) -> Result<(), WrongValue> {
        for (index, value) in fields::items(list)?.enumerate() {
            let trace = self.trace(value).within_item(index)?;
            self.snapshot.traces.push(trace);
        }
        Ok(())
    }

    fn trace(&mut self, list: Value<'_>) -> Result<Vec<Event>, WrongValue> {
        self.count()?;
        fields::items(list)?.enumerate().map(|(index, value)| self.event(value).within_item(index)).collect()
    }

    fn event(&mut self, value: Value<'_>) -> Result<Event, WrongValue> {
        self.count()?;
        let (mut action, mut address, mut size) = (None, None, None);
        let (mut stream, mut stack, mut mark) = (Stream(0), StackId::EMPTY, None);
        for (key, value) in Fields::of(value)? {
            match key {
                "action" => action = Some(event_action(value).within(key)?),
                "addr" | "device_free" => address = Some(fields::address(value).within(key)?),
                "size" => size = Some(fields::bytes(value).within(key)?),
                "stream" => stream = Stream(fields::address(value).within(key)?.0),
                "frames" => stack = self.frames.stack(value).within(key)?,
                "user_metadata" => mark = self.mark(value),
                _ => {}
            }
        }
        let action = action.ok_or_else(|| WrongValue::missing("action"))?;
        let address = address.ok_or_else(|| WrongValue::missing("addr"))?;
        let size = size.ok_or_else(|| WrongValue::missing("size"))?;
        Ok(Event { stream, stack, mark, ..Event::new(action, address, size) })
    }

    /// The mark that metadata holds. The agent sets the same text for many events, and torch shares it.
    fn mark(&mut self, metadata: Value<'_>) -> Option<u32> {
        if let Some(&known) = self.mark_of_text.get(&metadata.id()) {
            return known;
        }
        let mark = metadata.as_str().and_then(Mark::parse).map(|mark| self.intern_mark(mark));
        self.mark_of_text.insert(metadata.id(), mark);
        mark
    }

    fn intern_mark(&mut self, mark: Mark) -> u32 {
        let marks = &mut self.snapshot.marks;
        *self.marks.entry(mark).or_insert_with_key(|mark| {
            marks.push(mark.clone());
            u32::try_from(marks.len() - 1).unwrap_or(u32::MAX)
        })
    }

    fn count(&mut self) -> Result<(), WrongValue> {
        self.left = self.left.checked_sub(1).ok_or_else(WrongValue::repeated)?;
        Ok(())
    }
}

fn sum_of_allocated(blocks: &[Block]) -> Bytes {
    blocks.iter().filter(|block| block.state == BlockState::ActiveAllocated).map(|block| block.size).sum()
}

fn segment_kind(value: Value<'_>) -> Result<SegmentKind, WrongValue> {
    match value.as_str() {
        Some("small") => Ok(SegmentKind::Small),
        Some("large") => Ok(SegmentKind::Large),
        _ => Err(WrongValue::new("`small` or `large`", value)),
    }
}

fn block_state(value: Value<'_>) -> Result<BlockState, WrongValue> {
    match value.as_str() {
        Some("active_allocated") => Ok(BlockState::ActiveAllocated),
        // The second is what PyTorch's documentation calls it.
        Some("active_pending_free" | "active_awaiting_free") => Ok(BlockState::ActivePendingFree),
        Some("inactive") => Ok(BlockState::Inactive),
        _ => Err(WrongValue::new("`active_allocated`, `active_pending_free` or `inactive`", value)),
    }
}

fn event_action(value: Value<'_>) -> Result<Action, WrongValue> {
    let action = value.as_str().and_then(Action::from_name);
    action.ok_or_else(|| WrongValue::new("an action of PyTorch 2.0 to 2.15", value))
}
