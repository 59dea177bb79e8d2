//! The walk from the root: places the folded records, and reads the values that were not folded.

use super::fields::{FieldValue, SnapshotError, WrongValue};
use super::record::Record;
use super::records::{ReadBlock, Records};
use super::traces::{self, Trace};
use super::{annotations, settings};
use crate::bytes::Bytes;
use crate::event::Event;
use crate::ids::{Address, DeviceIndex, PoolId, Stream};
use crate::pickle::{Slot, ValueBuilder};
use crate::snapshot::torch::{Seen, SnapshotKey};
use crate::snapshot::{Block, BlockState, Segment, SegmentKind, Snapshot};
use crate::stack::StackId;

/// The state of the walk.
pub(super) struct Walk {
    records: Records,
    snapshot: Snapshot,
    seen: Seen,
    traces: Vec<Trace>,
    host_traces: Vec<Trace>,
    /// The number of values that may still be visited. Real snapshots share only stacks, which are cached; a forged one
    /// that shares events or blocks could need quadratic time.
    left: usize,
}

impl Walk {
    /// Reads the snapshot of a root.
    pub(super) fn read(root: Slot<Record>, builder: ValueBuilder<Records>) -> Result<Snapshot, SnapshotError> {
        let ValueBuilder { arena, fold: records, .. } = builder;
        let mut walk = Walk::new(records, arena.item_count());
        walk.root(FieldValue::new(&arena, root))?;
        drop(arena);
        Ok(walk.finish())
    }

    fn new(mut records: Records, items: usize) -> Walk {
        records.frames.walk();
        let left = 2 * (items + records.events.len() + records.blocks.len()) + 100;
        let (snapshot, seen, traces, host_traces) = (Snapshot::default(), Seen::default(), Vec::new(), Vec::new());
        Walk { records, snapshot, seen, traces, host_traces, left }
    }

    fn root(&mut self, root: FieldValue<'_>) -> Result<(), SnapshotError> {
        match root.fields() {
            Ok(fields) => Ok(self.parts(fields)?),
            Err(_) if root.items().is_ok() => {
                self.snapshot.segments = self.segments(root, false)?;
                Ok(())
            }
            Err(_) => Err(SnapshotError::NotASnapshot { found: root.kind() }),
        }
    }

    fn parts<'a>(&mut self, fields: impl Iterator<Item = (&'a str, FieldValue<'a>)>) -> Result<(), WrongValue> {
        self.seen.add(SnapshotKey::Root);
        let mut has_segments = false;
        for (key, value) in fields {
            has_segments |= key == "segments";
            self.part(key, value).map_err(|error| error.inside(key))?;
        }
        if has_segments { Ok(()) } else { Err(WrongValue::missing("segments")) }
    }

    fn part(&mut self, key: &str, value: FieldValue<'_>) -> Result<(), WrongValue> {
        match key {
            "segments" => self.snapshot.segments = self.segments(value, false)?,
            "device_traces" => self.traces = self.traces(value)?,
            "host_segments" => {
                self.seen.add(SnapshotKey::HostSegments);
                self.snapshot.host_segments = self.segments(value, true)?;
            }
            "host_traces" => self.host_traces = self.traces(value)?,
            "allocator_settings" => {
                self.seen.add(SnapshotKey::AllocatorSettings);
                self.snapshot.settings = settings::read(value, &mut self.seen)?;
            }
            "external_annotations" => {
                self.seen.add(SnapshotKey::ExternalAnnotations);
                self.snapshot.annotations = annotations::read(value)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(self) -> Snapshot {
        let Walk { records, mut snapshot, seen, traces, host_traces, .. } = self;
        let Records { events, frames, pools, reader, .. } = records;
        let devices = traces.len();
        let mut histories = traces::assemble(events, traces.into_iter().chain(host_traces).collect());
        snapshot.host_traces = histories.split_off(devices);
        snapshot.traces = histories;
        snapshot.stacks = frames.into_table();
        snapshot.pools = pools.list;
        snapshot.marks = reader.marks;
        snapshot.unknown_actions = reader.unknown_actions;
        snapshot.torch = seen.and(reader.seen).versions();
        snapshot.segments.sort_by_key(|segment| (segment.device, segment.address));
        // Versions without settings (before 2.3) still mark expandable segments.
        snapshot.settings.expandable_segments |= snapshot.segments.iter().any(|segment| segment.is_expandable);
        snapshot
    }

    fn segments(&mut self, list: FieldValue<'_>, host: bool) -> Result<Vec<Segment>, WrongValue> {
        let mut segments = Vec::new();
        for (index, value) in list.items()?.enumerate() {
            segments.push(self.segment(value, host).map_err(|error| error.inside_item(index))?);
        }
        Ok(segments)
    }

    /// A segment. The device of host memory is -1, which means no device.
    fn segment(&mut self, value: FieldValue<'_>, host: bool) -> Result<Segment, WrongValue> {
        self.seen.add(SnapshotKey::Segment);
        let mut draft = SegmentDraft::default();
        let mut blocks = None;
        for (key, value) in value.fields()? {
            self.count(1)?;
            match key {
                "device" if host => {}
                "frames" => draft.stack = self.records.frames.stack(value).map_err(|error| error.inside(key))?,
                "segment_pool_id" => draft.pool = self.records.pools.of(value),
                "blocks" => blocks = Some(value),
                _ => draft.field(key, value).map_err(|error| error.inside(key))?,
            }
        }
        if draft.pool.is_some() {
            self.seen.add(SnapshotKey::SegmentPoolId);
        }
        let start = draft.address.ok_or_else(|| WrongValue::missing("address"))?;
        let total_size = draft.total_size.ok_or_else(|| WrongValue::missing("total_size"))?;
        let blocks = blocks.ok_or_else(|| WrongValue::missing("blocks"))?;
        let blocks = self.read_blocks(blocks, start).map_err(|error| error.inside("blocks"))?;
        Ok(draft.finish(start, total_size, blocks))
    }

    /// The blocks of the segment at `start`. Before 2.1 blocks state no addresses: they follow each other.
    fn read_blocks(&mut self, list: FieldValue<'_>, start: Address) -> Result<Vec<Block>, WrongValue> {
        let mut next = start;
        let mut blocks = self.blocks_as_read(list)?;
        for read in &mut blocks {
            if !read.placed {
                read.block.address = next;
            }
            next = read.block.address.offset(read.block.size.0);
        }
        Ok(blocks.into_iter().map(|read| read.block).collect())
    }

    fn blocks_as_read(&mut self, list: FieldValue<'_>) -> Result<Vec<ReadBlock>, WrongValue> {
        if let Some(Record::Blocks(number)) = list.folded() {
            let range = self.records.ranges.get(number as usize).cloned().unwrap_or_default();
            self.count(range.len())?;
            let blocks = self.records.blocks.get(range.start as usize..range.end as usize);
            return Ok(blocks.unwrap_or_default().to_vec());
        }
        list.items()?
            .enumerate()
            .map(|(index, value)| self.block(value).map_err(|error| error.inside_item(index)))
            .collect()
    }

    fn block(&mut self, value: FieldValue<'_>) -> Result<ReadBlock, WrongValue> {
        self.count(1)?;
        if let Some(Record::Block(number)) = value.folded()
            && let Some(&block) = self.records.blocks.get(number as usize)
        {
            return Ok(block);
        }
        let pairs = value.pairs()?;
        self.count(pairs.len())?;
        self.records.read_block(value.arena(), &pairs)
    }

    /// The histories: a list for each device, or a single list for host memory.
    fn traces(&mut self, list: FieldValue<'_>) -> Result<Vec<Trace>, WrongValue> {
        if let Some(Record::Events(_)) = list.folded() {
            return Ok(vec![self.trace(list)?]);
        }
        list.items()?
            .enumerate()
            .map(|(index, value)| self.trace(value).map_err(|error| error.inside_item(index)))
            .collect()
    }

    fn trace(&mut self, list: FieldValue<'_>) -> Result<Trace, WrongValue> {
        self.count(1)?;
        if let Some(Record::Events(number)) = list.folded() {
            let range = self.records.ranges.get(number as usize).cloned().unwrap_or_default();
            self.count(range.len())?;
            return Ok(Trace::Folded(range));
        }
        let events = list
            .items()?
            .enumerate()
            .map(|(index, value)| self.read_event(value).map_err(|error| error.inside_item(index)));
        events.collect::<Result<_, _>>().map(Trace::Own)
    }

    fn read_event(&mut self, value: FieldValue<'_>) -> Result<Event, WrongValue> {
        self.count(1)?;
        if let Some(Record::Event(number)) = value.folded()
            && let Some(&event) = self.records.events.get(number as usize)
        {
            return Ok(event);
        }
        let pairs = value.pairs()?;
        self.count(pairs.len())?;
        self.records.read_event(value.arena(), &pairs)
    }

    fn count(&mut self, values: usize) -> Result<(), WrongValue> {
        self.left = self.left.checked_sub(values).ok_or_else(WrongValue::repeated)?;
        Ok(())
    }
}

#[derive(Default)]
struct SegmentDraft {
    device: DeviceIndex,
    address: Option<Address>,
    total_size: Option<Bytes>,
    allocated_size: Option<Bytes>,
    stream: Stream,
    kind: Option<SegmentKind>,
    is_expandable: bool,
    pool: Option<PoolId>,
    stack: StackId,
}

impl SegmentDraft {
    fn field(&mut self, key: &str, value: FieldValue<'_>) -> Result<(), WrongValue> {
        match key {
            "device" => self.device = DeviceIndex(value.u32()?),
            "address" => self.address = Some(value.address()?),
            "total_size" => self.total_size = Some(value.byte_count()?),
            "allocated_size" => self.allocated_size = Some(value.byte_count()?),
            "stream" => self.stream = Stream(value.address()?.0),
            "segment_type" => self.kind = Some(segment_kind(value)?),
            "is_expandable" => self.is_expandable = value.bool()?,
            _ => {}
        }
        Ok(())
    }

    fn finish(self, address: Address, total_size: Bytes, blocks: Vec<Block>) -> Segment {
        let SegmentDraft { device, stream, is_expandable, pool, stack, .. } = self;
        let allocated_size = self.allocated_size.unwrap_or_else(|| sum_of_allocated(&blocks));
        let kind = self.kind.unwrap_or(SegmentKind::Large);
        Segment { device, address, total_size, allocated_size, stream, kind, is_expandable, pool, stack, blocks }
    }
}

fn sum_of_allocated(blocks: &[Block]) -> Bytes {
    blocks.iter().filter(|block| block.state == BlockState::ActiveAllocated).map(|block| block.size).sum()
}

fn segment_kind(value: FieldValue<'_>) -> Result<SegmentKind, WrongValue> {
    match value.as_str() {
        Some("small") => Ok(SegmentKind::Small),
        Some("large") => Ok(SegmentKind::Large),
        _ => Err(WrongValue::new("`small` or `large`", value)),
    }
}
