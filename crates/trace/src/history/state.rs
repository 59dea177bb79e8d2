//! A device's memory at one moment: segments, blocks in use, and the gaps between them.

use super::History;
use super::lifetime::{LifetimeId, Moment};
use super::ranges::{Range, Ranges};
use super::size::kind;
use crate::bytes::Bytes;
use crate::event::{Action, Event};
use crate::ids::{Address, EventIndex, PoolId, Stream};
use crate::snapshot::SegmentKind;

/// An event that reserved or released device memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct SegmentChange {
    pub(super) index: EventIndex,
    pub(super) event: Event,
    /// The reserved memory after the event.
    pub(super) reserved: Bytes,
}

/// All memory of a device at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The segments, by address.
    pub segments: Vec<SegmentState>,
    /// Blocks in use outside of all known segments, by address: segment events were not recorded.
    pub outside: Vec<UsedBlock>,
}

/// A segment at one moment. Its blocks in use and its gaps fill it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentState {
    /// The first address.
    pub address: Address,
    /// Its size.
    pub size: Bytes,
    /// The stream of the segment.
    pub stream: Stream,
    /// The size class; `None` for a mapped range if neither the dump nor a block shows it.
    pub kind: Option<SegmentKind>,
    /// The pool, in versions that write it.
    pub pool: Option<PoolId>,
    /// Set for a mapped range of an expandable segment.
    pub is_expandable: bool,
    /// The blocks in use, by address.
    pub used: Vec<UsedBlock>,
}

/// A block in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsedBlock {
    /// The first address.
    pub address: Address,
    /// Its size.
    pub size: Bytes,
    /// The lifetime of the block.
    pub lifetime: LifetimeId,
    /// Set if the block was freed, but another stream may still use it.
    pub pending: bool,
}

/// A free block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The first address.
    pub address: Address,
    /// Its size.
    pub size: Bytes,
}

/// The distribution of reserved memory that is not in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fragmentation {
    /// Reserved less active.
    pub free: Bytes,
    /// The largest free block: the largest request that needs no new device memory.
    pub largest_free_block: Bytes,
    /// Free blocks beside blocks in use. PyTorch's `inactive_split_bytes` leaves out those of expandable segments,
    /// whose whole pages can be released.
    pub inactive_split: Bytes,
    /// The number of free blocks.
    pub free_blocks: u64,
    /// The number of segments with a block in use.
    pub used_segments: u64,
    /// The number of segments.
    pub segments: u64,
}

impl SegmentState {
    /// The free blocks, by address.
    pub fn gaps(&self) -> impl Iterator<Item = Gap> + '_ {
        let ends =
            std::iter::once(self.address).chain(self.used.iter().map(|block| block.address.offset(block.size.0)));
        let end = self.address.offset(self.size.0);
        let starts = self.used.iter().map(|block| block.address).chain(std::iter::once(end));
        let gaps = ends.zip(starts).filter(|(end, start)| start > end);
        gaps.map(|(end, start)| Gap { address: end, size: Bytes(start.0 - end.0) })
    }
}

impl State {
    /// The distribution of the free memory.
    pub fn fragmentation(&self) -> Fragmentation {
        let mut found = Fragmentation { segments: count(self.segments.len()), ..Fragmentation::default() };
        for segment in &self.segments {
            found.used_segments += u64::from(!segment.used.is_empty());
            for gap in segment.gaps() {
                found.free += gap.size;
                found.free_blocks += 1;
                found.largest_free_block = found.largest_free_block.max(gap.size);
                if !segment.used.is_empty() {
                    found.inactive_split += gap.size;
                }
            }
        }
        found
    }

    /// The largest free block of the segments that `serves` accepts.
    pub fn largest_gap(&self, serves: impl Fn(&SegmentState) -> bool) -> Bytes {
        let segments = self.segments.iter().filter(|segment| serves(segment));
        segments.flat_map(SegmentState::gaps).map(|gap| gap.size).max().unwrap_or_default()
    }
}

impl History {
    /// The segments and the blocks in use at a moment. The time is proportional to the number of earlier events.
    pub fn state_after(&self, moment: impl Into<Moment>) -> State {
        let moment = moment.into();
        let ranges = self.ranges_after(moment);
        let mut state = State { segments: ranges.iter().map(segment).collect(), outside: Vec::new() };
        let mut next = 0;
        for block in self.used_after(moment) {
            let behind = |segment: &SegmentState| segment.address.offset(segment.size.0) <= block.address;
            while state.segments.get(next).is_some_and(behind) {
                next += 1;
            }
            match state.segments.get_mut(next).filter(|segment| segment.address <= block.address) {
                Some(segment) => segment.used.push(block),
                None => state.outside.push(block),
            }
        }
        for segment in &mut state.segments {
            let kind_of = |block: &UsedBlock| kind(self.lifetimes[block.lifetime.0 as usize].requested);
            segment.kind = segment.kind.or_else(|| segment.used.first().map(kind_of));
        }
        state
    }

    fn ranges_after(&self, moment: Moment) -> Ranges {
        let mut ranges = self.segments_at_start.clone();
        let changes = self.segment_changes.iter().take_while(|change| Moment::after(change.index) <= moment);
        for change in changes {
            match change.event.action {
                Action::SegmentFree | Action::SegmentUnmap => {
                    ranges.remove(&change.event);
                }
                // The range was free in the walk, so adding it succeeds.
                _ => drop(ranges.add(&change.event)),
            }
        }
        ranges
    }

    /// The blocks in use at a moment, by address.
    fn used_after(&self, moment: Moment) -> Vec<UsedBlock> {
        let begun = self.lifetimes.partition_point(|life| life.begun <= moment);
        let lives = (0..).map(LifetimeId).zip(&self.lifetimes[..begun]);
        let mut used: Vec<UsedBlock> = lives
            .filter(|(_, life)| life.is_active_after(moment))
            .map(|(lifetime, life)| UsedBlock {
                address: life.address,
                size: life.block,
                lifetime,
                pending: life.free_requested <= moment,
            })
            .collect();
        used.sort_unstable_by_key(|block| (block.address, block.lifetime));
        used
    }
}

fn segment((start, range): (u64, &Range)) -> SegmentState {
    SegmentState {
        address: Address(start),
        size: Bytes(range.size),
        stream: range.stream,
        kind: range.kind,
        pool: range.pool,
        is_expandable: range.expandable,
        used: Vec::new(),
    }
}

fn count(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}
