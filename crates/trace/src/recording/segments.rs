//! Segments for a recording without a dump: the ranges of all addresses that were used.

use crate::bytes::Bytes;
use crate::ids::{Address, DeviceIndex, Stream};
use crate::snapshot::{Block, BlockState, Segment, SegmentKind};
use crate::stack::StackId;

/// An allocated block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) address: u64,
    pub(super) size: u64,
    pub(super) stack: StackId,
}

/// Joins ranges of addresses into segments, and fills them with the allocated blocks, by device and address, and with free ones.
pub(super) fn cover(ranges: &[(DeviceIndex, u64, u64)], blocks: &[(DeviceIndex, Held)]) -> Vec<Segment> {
    let mut held = blocks.iter().peekable();
    let mut segments = Vec::new();
    for (device, start, end) in join(ranges) {
        let mut inside = Vec::new();
        while let Some((_, block)) =
            held.next_if(|(other, block)| (*other, block.address) < (device, end))
        {
            inside.push(*block);
        }
        segments.push(segment(device, start, end, &inside));
    }
    segments
}

/// Joins ranges that overlap or touch.
fn join(ranges: &[(DeviceIndex, u64, u64)]) -> Vec<(DeviceIndex, u64, u64)> {
    let mut sorted = ranges.to_vec();
    sorted.sort_unstable();
    let mut joined: Vec<(DeviceIndex, u64, u64)> = Vec::new();
    for (device, start, end) in sorted {
        match joined.last_mut() {
            Some(last) if last.0 == device && start <= last.2 => last.2 = last.2.max(end),
            _ => joined.push((device, start, end)),
        }
    }
    joined
}

fn segment(device: DeviceIndex, start: u64, end: u64, held: &[Held]) -> Segment {
    let mut blocks = Vec::new();
    let mut at = start;
    for block in held {
        blocks.extend(free(at, block.address));
        blocks.push(Block { state: BlockState::ActiveAllocated, stack: block.stack, ..of(block.address, block.size) });
        at = block.address.saturating_add(block.size);
    }
    blocks.extend(free(at, end));
    let allocated = held.iter().map(|block| Bytes(block.size)).sum();
    Segment {
        device,
        address: Address(start),
        total_size: Bytes(end - start),
        allocated_size: allocated,
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
