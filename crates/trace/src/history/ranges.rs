//! Reserved device memory, as ranges of addresses.

use std::collections::BTreeMap;

use crate::bytes::Bytes;
use crate::event::{Action, Event};
use crate::ids::{Address, PoolId, Stream};
use crate::snapshot::{Segment, SegmentKind};

/// The size of segments for small requests; segments for large requests are larger. Source: `kSmallBuffer` in
/// `c10/cuda/CUDACachingAllocator.cpp`, PyTorch 1.13 to 2.15.
const SMALL_SEGMENT: u64 = 2 << 20;

/// A segment, or a run of mapped pages of an expandable segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) size: u64,
    pub(super) stream: Stream,
    pub(super) expandable: bool,
    /// The size class; `None` if unknown from dump and size.
    pub(super) kind: Option<SegmentKind>,
    /// The pool, in versions with pools.
    pub(super) pool: Option<PoolId>,
}

/// Segments and mapped ranges by address; they never overlap.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    ranges: BTreeMap<u64, Range>,
    total: Bytes,
}

impl Ranges {
    /// The ranges of a dump. Of overlapping segments the first is used.
    pub(super) fn of(segments: &[&Segment]) -> Ranges {
        let mut ranges = Ranges::default();
        for segment in segments {
            let (stream, expandable) = (segment.stream, segment.is_expandable);
            let range =
                Range { size: segment.total_size.0, stream, expandable, kind: Some(segment.kind), pool: segment.pool };
            let _ = ranges.insert(segment.address.0, range);
        }
        ranges
    }

    /// The reserved memory.
    pub(super) fn total(&self) -> Bytes {
        self.total
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// All ranges, by address.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &Range)> {
        self.ranges.iter().map(|(&start, range)| (start, range))
    }

    /// The range around `address`, with the range's start.
    pub(super) fn at(&self, address: Address) -> Option<(u64, Range)> {
        let (&start, &range) = self.ranges.range(..=address.0).next_back()?;
        (address.0 - start < range.size).then_some((start, range))
    }

    /// Adds the memory of a `segment_alloc` or `segment_map` event. Fails with the start of an overlapping range.
    pub(super) fn add(&mut self, event: &Event) -> Result<(), Address> {
        let expandable = matches!(event.action, Action::SegmentMap | Action::SegmentUnmap);
        let kind = if event.size.0 == SMALL_SEGMENT { SegmentKind::Small } else { SegmentKind::Large };
        let kind = (!expandable).then_some(kind);
        let range = Range { size: event.size.0, stream: event.stream, expandable, kind, pool: event.pool };
        self.insert(event.address.0, range)
    }

    fn insert(&mut self, start: u64, range: Range) -> Result<(), Address> {
        let end = start.saturating_add(range.size);
        let before = self.ranges.range(..end).next_back();
        if let Some((&other, _)) = before.filter(|(other, range)| **other + range.size > start) {
            return Err(Address(other));
        }
        if end > start {
            self.ranges.insert(start, Range { size: end - start, ..range });
            self.total += Bytes(end - start);
            self.join(start);
            self.join_before(start);
        }
        Ok(())
    }

    /// Removes the memory of a `segment_free` or `segment_unmap` event; `false` if part of it is not in a known range.
    pub(super) fn remove(&mut self, event: &Event) -> bool {
        let end = event.address.offset(event.size.0).0;
        let held = self.at(event.address).is_some_and(|(first, range)| first + range.size >= end);
        if held {
            self.cut(event.address.0, end);
        }
        held
    }

    /// Undoes an event: removes reserved memory, adds released memory.
    pub(super) fn undo(&mut self, event: &Event) {
        self.cut(event.address.0, event.address.offset(event.size.0).0);
        if matches!(event.action, Action::SegmentFree | Action::SegmentUnmap) {
            let _ = self.add(event);
        }
    }

    /// Removes the range `start..end`, as far as it is reserved.
    fn cut(&mut self, start: u64, end: u64) {
        while let Some((&first, &range)) = self.ranges.range(..end).next_back() {
            let last = first + range.size;
            if last <= start || start >= end {
                return;
            }
            self.ranges.remove(&first);
            self.total -= Bytes(last.min(end) - first.max(start));
            self.insert_part(first, start, range);
            self.insert_part(end, last, range);
        }
    }

    fn insert_part(&mut self, start: u64, end: u64, of: Range) {
        if end > start {
            self.ranges.insert(start, Range { size: end - start, ..of });
        }
    }

    /// Joins the range at `start` with the next, if both belong to the same expandable segment.
    fn join(&mut self, start: u64) {
        let Some(&range) = self.ranges.get(&start) else {
            return;
        };
        let next_start = start + range.size;
        let Some(&next) = self.ranges.get(&next_start) else {
            return;
        };
        if range.expandable && next.expandable && range.stream == next.stream {
            self.ranges.remove(&next_start);
            let (kind, pool) = (range.kind.or(next.kind), range.pool.or(next.pool));
            self.ranges.insert(start, Range { size: range.size + next.size, kind, pool, ..range });
        }
    }

    fn join_before(&mut self, start: u64) {
        if let Some((&before, _)) = self.ranges.range(..start).next_back() {
            self.join(before);
        }
    }
}
