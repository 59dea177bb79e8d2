//! The segments of a recording, which notes blocks alone.
//!
//! # Note [Segments of a recording]
//! A segment is made for its first block. So a segment of PyTorch's dump was reserved right before the first event inside it. Where the reserved
//! bytes fall from one event to the next, PyTorch has released segments without blocks: the ranges that are empty then, and they
//! are reserved again at their next use. What was used and is not in the dump is a segment for each range of addresses that touch.

use std::collections::BTreeMap;

use crate::bytes::Bytes;
use crate::ids::{Address, DeviceIndex, Stream};
use crate::snapshot::{Block, BlockState, Segment, SegmentKind};
use crate::stack::StackId;

/// An allocated block.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeldBlock {
    pub(super) address: u64,
    pub(super) size: u64,
    pub(super) stack: StackId,
}

/// A change of a device's segments before an event, by the event's position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reservation {
    pub(super) before: usize,
    pub(super) address: u64,
    pub(super) size: u64,
    pub(super) is_reserved: bool,
}

/// A range of addresses in use, since an event.
#[derive(Clone, Copy, Debug)]
struct Range {
    end: u64,
    /// The event; `None` if the range is older than the history.
    first: Option<usize>,
    blocks: usize,
}

/// The ranges of one device.
#[derive(Debug, Default)]
pub(super) struct Ranges {
    open: BTreeMap<u64, Range>,
    changes: Vec<Reservation>,
    reserved: u64,
}

impl Ranges {
    /// Notes an event of a block, at its position.
    pub(super) fn note(&mut self, at: usize, address: u64, change: i64, reserved: u64) {
        if reserved < self.reserved {
            self.release(at);
        }
        self.reserved = reserved;
        let size = change.unsigned_abs();
        if change < 0 {
            let holder = self.open.range_mut(..=address).next_back().map(|(_, range)| range);
            match holder.filter(|range| range.end > address) {
                Some(range) => range.blocks = range.blocks.saturating_sub(1),
                None => self.add(address, Range { end: address.saturating_add(size), first: None, blocks: 0 }),
            }
        } else {
            self.add(address, Range { end: address.saturating_add(size), first: Some(at), blocks: 1 });
        }
    }

    /// Notes a block that is older than the history, before its events.
    pub(super) fn note_older(&mut self, block: HeldBlock) {
        let end = block.address.saturating_add(block.size);
        self.add(block.address, Range { end, first: None, blocks: 1 });
    }

    fn add(&mut self, mut start: u64, mut joined: Range) {
        let mut end = joined.end;
        while let Some((&other, range)) = self.open.range(..end).next_back() {
            if range.end <= start {
                break;
            }
            (start, end) = (start.min(other), end.max(range.end));
            joined.first = joined.first.min(range.first);
            joined.blocks += range.blocks;
            self.open.remove(&other);
        }
        self.open.insert(start, Range { end, ..joined });
    }

    /// Ends all ranges without blocks, before the event at `at`.
    fn release(&mut self, at: usize) {
        let empty: Vec<(u64, Range)> =
            self.open.iter().filter(|(_, range)| range.blocks == 0).map(|(start, range)| (*start, *range)).collect();
        self.open.retain(|_, range| range.blocks > 0);
        for (address, range) in touching(&empty) {
            let size = range.end - address;
            self.changes.extend(reserve(&range, address, size));
            self.changes.push(Reservation { before: at, address, size, is_reserved: false });
        }
    }

    /// Ends the history of a device: the changes by position, and the segments. `dump`: PyTorch's segments; `held`: the
    /// blocks without a dump, by address.
    pub(super) fn finish(
        mut self,
        device: DeviceIndex,
        dump: Vec<Segment>,
        held: &[HeldBlock],
    ) -> (Vec<Reservation>, Vec<Segment>) {
        let mut segments = dump;
        let open: Vec<(u64, Range)> = std::mem::take(&mut self.open).into_iter().collect();
        for segment in &segments {
            let (start, end) = (segment.address.0, segment.address.0.saturating_add(segment.total_size.0));
            let inside = open.iter().filter(|(address, range)| *address < end && range.end > start);
            if let Some(first) = inside.map(|(_, range)| range.first).min() {
                let range = Range { end, first, blocks: 0 };
                self.changes.extend(reserve(&range, start, segment.total_size.0));
            }
        }
        if segments.is_empty() {
            for (address, range) in touching(&open) {
                self.changes.extend(reserve(&range, address, range.end - address));
                let inside = held.iter().filter(|block| block.address >= address && block.address < range.end);
                segments.push(segment(device, address, range.end, &inside.copied().collect::<Vec<_>>()));
            }
        }
        self.changes.sort_by_key(|change| (change.before, change.is_reserved, change.address));
        (self.changes, segments)
    }
}

/// The reservation of a range, unless it is older than the history.
fn reserve(range: &Range, address: u64, size: u64) -> Option<Reservation> {
    Some(Reservation { before: range.first?, address, size, is_reserved: true })
}

/// Joins ranges that touch; both are by address.
fn touching(ranges: &[(u64, Range)]) -> Vec<(u64, Range)> {
    let mut joined: Vec<(u64, Range)> = Vec::new();
    for (start, range) in ranges {
        match joined.last_mut() {
            Some((_, last)) if last.end == *start => {
                last.end = range.end;
                last.first = last.first.min(range.first);
            }
            _ => joined.push((*start, *range)),
        }
    }
    joined
}

fn segment(device: DeviceIndex, start: u64, end: u64, held: &[HeldBlock]) -> Segment {
    let mut blocks = Vec::new();
    let mut at = start;
    for block in held {
        blocks.extend(free(at, block.address));
        blocks.push(Block { state: BlockState::ActiveAllocated, stack: block.stack, ..of(block.address, block.size) });
        at = block.address.saturating_add(block.size);
    }
    blocks.extend(free(at, end));
    Segment {
        device,
        address: Address(start),
        total_size: Bytes(end - start),
        allocated_size: held.iter().map(|block| Bytes(block.size)).sum(),
        stream: Stream::default(),
        kind: SegmentKind::Large,
        is_expandable: false,
        pool: None,
        stack: StackId::EMPTY,
        blocks,
    }
}

fn free(from: u64, to: u64) -> Option<Block> {
    (from < to).then(|| of(from, to - from))
}

fn of(address: u64, size: u64) -> Block {
    let size = Bytes(size);
    Block { address: Address(address), size, requested_size: size, state: BlockState::Inactive, stack: StackId::EMPTY }
}
