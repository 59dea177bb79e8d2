//! The device memory that the allocator holds, as ranges of addresses.

use std::collections::BTreeMap;

use crate::bytes::Bytes;
use crate::event::{Action, Event};
use crate::ids::{Address, Stream};

/// A segment, or a run of mapped pages of an expandable one.
#[derive(Clone, Copy, Debug)]
struct Range {
    size: u64,
    stream: Stream,
    expandable: bool,
}

/// Segments and mapped ranges by address; they never overlap.
#[derive(Clone, Debug, Default)]
pub(super) struct Reserved {
    ranges: BTreeMap<u64, Range>,
    total: Bytes,
}

impl Reserved {
    /// How much is held.
    pub(super) fn total(&self) -> Bytes {
        self.total
    }

    /// The end of the range that holds `address`.
    pub(super) fn end_of(&self, address: Address) -> Option<u64> {
        self.range_at(address.0).map(|(start, range)| start + range.size)
    }

    /// Adds what a segment_alloc or segment_map event says; gives back the range in its way, if there is one.
    pub(super) fn add(&mut self, event: &Event) -> Result<(), Address> {
        let (start, size) = (event.address.0, event.size.0);
        let end = start.saturating_add(size);
        if let Some((&other, _)) =
            self.ranges.range(..end).next_back().filter(|(other, range)| **other + range.size > start)
        {
            return Err(Address(other));
        }
        if end > start {
            let expandable = event.action == Action::SegmentMap;
            self.ranges.insert(start, Range { size: end - start, stream: event.stream, expandable });
            self.total += Bytes(end - start);
            self.join(start);
            self.join_before(start);
        }
        Ok(())
    }

    /// Takes out what a segment_free or segment_unmap event says; false where nothing known holds it.
    pub(super) fn remove(&mut self, event: &Event) -> bool {
        let (start, end) = (event.address.0, event.address.0.saturating_add(event.size.0));
        let Some((first, range)) = self.range_at(start).filter(|(first, range)| first + range.size >= end) else {
            return false;
        };
        self.ranges.remove(&first);
        self.insert_part(first, start, range);
        self.insert_part(end, first + range.size, range);
        self.total -= Bytes(end - start);
        true
    }

    fn insert_part(&mut self, start: u64, end: u64, of: Range) {
        if end > start {
            self.ranges.insert(start, Range { size: end - start, ..of });
        }
    }

    fn range_at(&self, address: u64) -> Option<(u64, Range)> {
        let (&start, &range) = self.ranges.range(..=address).next_back()?;
        (address < start + range.size).then_some((start, range))
    }

    /// Makes one range of the one at `start` and the one that follows, where they belong to one expandable segment.
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
            self.ranges.insert(start, Range { size: range.size + next.size, ..range });
        }
    }

    fn join_before(&mut self, start: u64) {
        if let Some((&before, _)) = self.ranges.range(..start).next_back() {
            self.join(before);
        }
    }
}
