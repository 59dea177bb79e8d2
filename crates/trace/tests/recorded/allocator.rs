//! A small caching allocator after PyTorch's, with default settings, which writes correct histories and dumps.
#![expect(clippy::unwrap_used, reason = "a test")]
#![allow(dead_code, reason = "each test uses its part")]

use std::collections::{BTreeMap, BTreeSet};

use trace::{
    Action, Address, Block, BlockState, Bytes, DeviceIndex, Event, Segment, SegmentKind, StackId, Stream, Totals,
};

const MIB: u64 = 1 << 20;

#[derive(Clone, Copy, Debug)]
struct Part {
    size: u64,
    requested: u64,
    state: BlockState,
    segment: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Allocator {
    parts: BTreeMap<u64, Part>,
    /// By size class, size, address.
    free: BTreeSet<(bool, u64, u64)>,
    segments: BTreeMap<u64, u64>,
    device: u64,
    /// The events so far.
    pub(crate) events: Vec<Event>,
    /// The current counters.
    pub(crate) totals: Totals,
    /// The counters after each event.
    pub(crate) counted: Vec<Totals>,
}

impl Allocator {
    /// Allocates a block.
    pub(crate) fn alloc(&mut self, requested: u64, stack: u32) -> u64 {
        let size = requested.next_multiple_of(512).max(512);
        let large = size > MIB;
        let found = self.free.range((large, size, 0)..(large, u64::MAX, 0)).next().copied();
        let (_, room, address) = found.unwrap_or_else(|| self.reserve(size, large));
        self.free.remove(&(large, room, address));
        let segment = self.parts[&address].segment;
        let rest = room - size;
        let cut = if large { rest > MIB } else { rest >= 512 };
        let size = if cut { size } else { room };
        if cut {
            self.parts.insert(address + size, Part { size: rest, requested: 0, state: BlockState::Inactive, segment });
            self.free.insert((large, rest, address + size));
        }
        self.parts.insert(address, Part { size, requested, state: BlockState::ActiveAllocated, segment });
        self.totals.allocated += Bytes(size);
        self.totals.active += Bytes(size);
        self.totals.requested += Bytes(requested);
        self.note(Action::Alloc, address, requested, stack);
        address
    }

    fn reserve(&mut self, size: u64, large: bool) -> (bool, u64, u64) {
        let bytes = match size {
            _ if !large => 2 * MIB,
            _ if size < 10 * MIB => 20 * MIB,
            _ => size.next_multiple_of(2 * MIB),
        };
        let address = (1 << 40) + self.device;
        self.device += bytes;
        self.segments.insert(address, bytes);
        self.parts.insert(address, Part { size: bytes, requested: 0, state: BlockState::Inactive, segment: address });
        self.totals.reserved += Bytes(bytes);
        self.note(Action::SegmentAlloc, address, bytes, 0);
        (large, bytes, address)
    }

    pub(crate) fn request_free(&mut self, address: u64) {
        let part = self.parts.get_mut(&address).unwrap();
        part.state = BlockState::ActivePendingFree;
        let part = *part;
        self.totals.allocated -= Bytes(part.size);
        self.note(Action::FreeRequested, address, part.requested, 0);
    }

    pub(crate) fn complete_free(&mut self, address: u64) {
        let part = self.parts[&address];
        self.totals.active -= Bytes(part.size);
        self.totals.requested -= Bytes(part.requested);
        self.note(Action::FreeCompleted, address, part.requested, 0);
        let (mut start, mut size) = (address, part.size);
        let next = self.parts.get(&(address + size)).copied();
        if let Some(next) = next.filter(|next| next.state == BlockState::Inactive && next.segment == part.segment) {
            self.forget(address + size, next);
            size += next.size;
        }
        let before = self.parts.range(..address).next_back().map(|(&at, &before)| (at, before));
        let merges = |before: &Part| before.state == BlockState::Inactive && before.segment == part.segment;
        if let Some((at, before)) = before.filter(|(_, before)| merges(before)) {
            self.forget(at, before);
            (start, size) = (at, size + before.size);
        }
        self.parts.remove(&address);
        self.parts.insert(start, Part { size, state: BlockState::Inactive, ..part });
        self.free.insert((self.is_large(part.segment), size, start));
    }

    fn forget(&mut self, address: u64, part: Part) {
        self.parts.remove(&address);
        self.free.remove(&(self.is_large(part.segment), part.size, address));
    }

    fn is_large(&self, segment: u64) -> bool {
        self.segments[&segment] > 2 * MIB
    }

    /// Releases every segment without a block in use.
    pub(crate) fn empty_cache(&mut self) {
        let empty = |(&at, &size): (&u64, &u64)| {
            let part = self.parts[&at];
            (part.state == BlockState::Inactive && part.size == size).then_some((at, size))
        };
        let empty: Vec<(u64, u64)> = self.segments.iter().filter_map(empty).collect();
        for (at, size) in empty {
            self.forget(at, self.parts[&at]);
            self.segments.remove(&at);
            self.totals.reserved -= Bytes(size);
            self.note(Action::SegmentFree, at, size, 0);
        }
    }

    fn note(&mut self, action: Action, address: u64, size: u64, stack: u32) {
        let event = Event::new(action, Address(address), Bytes(size));
        self.events.push(Event { stack: StackId(stack), ..event });
        self.counted.push(self.totals);
    }

    /// The current dump.
    pub(crate) fn dump(&self) -> Vec<Segment> {
        self.segments.iter().map(|(&address, &size)| self.segment(address, size)).collect()
    }

    fn segment(&self, address: u64, size: u64) -> Segment {
        let parts = self.parts.range(address..address + size);
        let blocks: Vec<Block> = parts
            .map(|(&at, part)| Block {
                address: Address(at),
                size: Bytes(part.size),
                requested_size: Bytes(part.requested),
                state: part.state,
                stack: StackId::EMPTY,
            })
            .collect();
        let allocated = blocks.iter().filter(|block| block.state == BlockState::ActiveAllocated);
        Segment {
            device: DeviceIndex(0),
            address: Address(address),
            total_size: Bytes(size),
            allocated_size: allocated.map(|block| block.size).sum(),
            stream: Stream(0),
            kind: if self.is_large(address) { SegmentKind::Large } else { SegmentKind::Small },
            is_expandable: false,
            pool: None,
            stack: StackId::EMPTY,
            blocks,
        }
    }
}
