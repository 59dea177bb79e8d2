//! The parts of a recording, for a reader beside the running process.

// Note [Growing recordings]
// ~~~~~~~~~~~~~~~~~~~~~~~~~
// The process writes while the file is read. An event is complete once the header counts it, and stays until the ring comes
// round: the counter is read again after the events, and tells whether they were overwritten meanwhile. The table of blocks has no such
// counter. So a copy of the table is brought to the state after a certain event by the events since the copy began
// (`settle_blocks`): the last of them at an address says whether the block is allocated.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use wire::recording::{BLOCK_BYTES, EVENT_BYTES, KIND_MEMORY, MAGIC, VERSION, header};

use super::RecordingError;
use super::bytes::Fields;
use crate::stack::StackId;

/// The header of a recording at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordingHeader {
    /// The process.
    pub pid: u32,
    /// The number of events since the start.
    pub events: u64,
    /// The current optimizer step, counted from 1; 0 before the end of the first.
    pub step: u32,
    pub(super) block_capacity: u64,
    event_capacity: u64,
    text_capacity: u64,
    texts_used: u64,
    reserve_capacity: u64,
    reserve_used: u64,
}

/// A change of the allocated memory of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockChange {
    /// The device.
    pub device: u8,
    /// The bytes of the block, negative for a free.
    pub bytes: i64,
    /// The reserved bytes of the device afterwards.
    pub reserved_bytes: u64,
    /// The current optimizer step, counted from 1.
    pub step: u32,
}

/// An allocated block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldMemory {
    /// The device.
    pub device: u8,
    /// The size.
    pub bytes: u64,
    /// The stack of the allocation.
    pub stack: StackId,
    /// The optimizer step of the allocation, counted from 1.
    pub step: u32,
}

/// Reads the first [`header::BYTES`] of a recording.
pub fn read_header(start: &[u8]) -> Result<RecordingHeader, RecordingError> {
    let fields = Fields(start);
    if start.get(..MAGIC.len()) != Some(&MAGIC[..]) {
        return Err(RecordingError::Magic);
    }
    let found = fields.u32(header::VERSION);
    if found != VERSION {
        return Err(RecordingError::Version { found });
    }
    let read = RecordingHeader {
        pid: fields.u32(header::PID),
        events: fields.u64(header::EVENTS),
        step: fields.u32(header::STEP),
        block_capacity: fields.u64(header::BLOCK_CAPACITY),
        event_capacity: fields.u64(header::EVENT_CAPACITY),
        text_capacity: fields.u64(header::TEXT_CAPACITY),
        texts_used: fields.u64(header::TEXTS_USED),
        reserve_capacity: fields.u64(header::RESERVE_CAPACITY),
        reserve_used: fields.u64(header::RESERVE_USED),
    };
    let is_whole = start.len() >= header::BYTES && read.event_capacity > 0;
    if is_whole { Ok(read) } else { Err(RecordingError::Length { found: start.len(), expected: read.length() }) }
}

impl RecordingHeader {
    /// The number of completed optimizer steps.
    pub fn steps_done(&self) -> u32 {
        self.step.saturating_sub(1)
    }

    /// The length of the file.
    pub fn length(&self) -> u64 {
        self.start_of_reserve().saturating_add(self.reserve_capacity)
    }

    /// The number of the oldest event in the ring.
    pub fn first_event(&self) -> u64 {
        self.events.saturating_sub(self.event_capacity)
    }

    /// The number of events in the ring.
    pub fn ring_length(&self) -> u64 {
        self.event_capacity
    }

    /// The offset of an event in the file.
    pub fn locate_event(&self, number: u64) -> u64 {
        (header::BYTES as u64).saturating_add((number % self.event_capacity).saturating_mul(EVENT_BYTES as u64))
    }

    /// The ranges of the file with the events `from..to`, in order: the second is empty unless the ring comes round in between.
    pub fn locate_events(&self, from: u64, to: u64) -> [Range<u64>; 2] {
        let from = from.max(to.saturating_sub(self.event_capacity));
        if from >= to {
            return [0..0, 0..0];
        }
        let (start, end) = (self.locate_event(from), self.locate_event(to - 1) + EVENT_BYTES as u64);
        if start < end {
            return [start..end, 0..0];
        }
        [start..self.locate_blocks().start, header::BYTES as u64..end]
    }

    /// The range of the table of blocks.
    pub fn locate_blocks(&self) -> Range<u64> {
        let start = (header::BYTES as u64).saturating_add(self.event_capacity.saturating_mul(EVENT_BYTES as u64));
        start..self.start_of_texts()
    }

    /// The range of the texts in use.
    pub fn locate_texts(&self) -> Range<u64> {
        let start = self.start_of_texts();
        start..start.saturating_add(self.texts_used.min(self.text_capacity))
    }

    /// The range of the lines in the reserve.
    pub fn locate_reserve(&self) -> Range<u64> {
        let start = self.start_of_reserve();
        start..start.saturating_add(self.reserve_used.min(self.reserve_capacity))
    }

    fn start_of_reserve(&self) -> u64 {
        self.start_of_texts().saturating_add(self.text_capacity)
    }

    fn start_of_texts(&self) -> u64 {
        let events = self.event_capacity.saturating_mul(EVENT_BYTES as u64);
        let blocks = self.block_capacity.saturating_mul(BLOCK_BYTES as u64);
        (header::BYTES as u64).saturating_add(events).saturating_add(blocks)
    }
}

/// Reads the changes in a range of events; errors are none.
pub fn read_changes(events: &[u8]) -> impl Iterator<Item = BlockChange> {
    let all = events.chunks_exact(EVENT_BYTES).map(Fields);
    all.filter(|event| event.u8(36) == KIND_MEMORY).map(|event| BlockChange {
        device: event.u8(37),
        bytes: event.u64(8).cast_signed(),
        reserved_bytes: event.u64(16),
        step: event.u32(28),
    })
}

/// The allocated bytes of each device, by a table of blocks.
pub fn sum_blocks(table: &[u8]) -> BTreeMap<u8, u64> {
    let mut sums = BTreeMap::new();
    for block in table.chunks_exact(BLOCK_BYTES).map(Fields).filter(|block| block.u64(0) != 0) {
        let sum: &mut u64 = sums.entry(block.u8(24)).or_default();
        *sum = sum.saturating_add(block.u64(8));
    }
    sums
}

/// Brings the copy of a table to the state after `since`, the events since the copy began (Note [Growing recordings]). The blocks then
/// stand at the start of the table.
pub fn settle_blocks(table: &mut Vec<u8>, since: &[u8]) {
    let mut blocks: HashMap<(u64, u8), [u8; BLOCK_BYTES]> = HashMap::new();
    for slot in table.chunks_exact(BLOCK_BYTES).filter(|slot| Fields(slot).u64(0) != 0) {
        blocks.insert((Fields(slot).u64(0), Fields(slot).u8(24)), to_array(slot));
    }
    for event in since.chunks_exact(EVENT_BYTES).map(Fields).filter(|event| event.u8(36) == KIND_MEMORY) {
        let key = (event.u64(0), event.u8(37));
        if event.u64(8).cast_signed() < 0 {
            blocks.remove(&key);
        } else {
            blocks.insert(key, to_block(event));
        }
    }
    let (capacity, mut settled) = (table.len(), blocks.into_values().collect::<Vec<_>>());
    settled.sort_unstable();
    *table = settled.concat();
    table.resize(capacity.max(table.len()), 0);
}

fn to_array(slot: &[u8]) -> [u8; BLOCK_BYTES] {
    slot.try_into().unwrap_or([0; BLOCK_BYTES])
}

/// The block that an event allocates.
fn to_block(event: Fields) -> [u8; BLOCK_BYTES] {
    let mut block = [0; BLOCK_BYTES];
    block[..8].copy_from_slice(&event.u64(0).to_le_bytes());
    block[8..16].copy_from_slice(&event.u64(8).to_le_bytes());
    block[16..20].copy_from_slice(&event.u32(24).to_le_bytes());
    block[20..24].copy_from_slice(&event.u32(28).to_le_bytes());
    block[24] = event.u8(37);
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> RecordingHeader {
        RecordingHeader { event_capacity: 8, block_capacity: 4, text_capacity: 64, ..RecordingHeader::default() }
    }

    #[test]
    fn events_of_the_ring_lie_in_one_range_or_two() {
        let at = |slot: u64| header::BYTES as u64 + slot * EVENT_BYTES as u64;
        let cases = [
            ((0, 0), [0..0, 0..0]),
            ((5, 3), [0..0, 0..0]),
            ((0, 3), [at(0)..at(3), 0..0]),
            ((6, 8), [at(6)..at(8), 0..0]),
            ((6, 9), [at(6)..at(8), at(0)..at(1)]),
            ((8, 16), [at(0)..at(8), 0..0]),
            ((0, 18), [at(2)..at(8), at(0)..at(2)]),
        ];
        for ((from, to), expected) in cases {
            assert_eq!(header().locate_events(from, to), expected, "{from}..{to}");
        }
    }

    fn event(address: u64, change: i64, stack: u32) -> Vec<u8> {
        let mut event = vec![0; EVENT_BYTES];
        event[..8].copy_from_slice(&address.to_le_bytes());
        event[8..16].copy_from_slice(&change.to_le_bytes());
        event[24..28].copy_from_slice(&stack.to_le_bytes());
        event[36] = KIND_MEMORY;
        event
    }

    #[test]
    fn a_copied_table_is_settled_by_the_events_since() {
        let held = |address, size: i64, stack| to_block(Fields(&event(address, size, stack)));
        let empty = [0; BLOCK_BYTES];
        let mut table = [held(512, 512, 1), empty, held(1024, 512, 1), held(512, 512, 1)].concat();
        let since = [event(1024, -512, 0), event(2048, 1024, 2), event(4096, 512, 1), event(4096, -512, 0)].concat();
        settle_blocks(&mut table, &since);
        assert_eq!(
            table,
            [held(512, 512, 1), held(2048, 1024, 2), empty, empty].concat(),
            "in the order of their bytes"
        );
        assert_eq!(sum_blocks(&table), BTreeMap::from([(0, 1536)]));
    }
}
