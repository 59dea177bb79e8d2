//! The rounding of blocks beyond the request: Note [Block sizes] of `size.rs`, with the neighbours of each block.
//!
//! Every block of a large segment, free or in use, is longer than 1 MiB: smaller rests are not split off. Each MiB of
//! addresses therefore holds at most one start of a large block, and the neighbour within 1 MiB of a block's end is
//! found with two look-ups, without keeping the blocks sorted.

use rustc_hash::FxHashMap;

use super::ranges::Ranges;
use super::size::{LARGEST_SLACK, LARGEST_SMALL, SizeRules, kind};
use super::unsplit::Unsplit;
use crate::bytes::Bytes;
use crate::event::{Action, Event};
use crate::ids::Address;
use crate::snapshot::{Segment, SegmentKind, SnapshotSettings};

/// The block and segment ends within one MiB of addresses.
#[derive(Clone, Copy, Debug)]
struct Edges {
    /// The large block in use that starts there.
    block: u64,
    /// The end of the `cudaMalloc`ed segment that ends there.
    segment: u64,
}

const NO_EDGES: Edges = Edges { block: u64::MAX, segment: u64::MAX };

/// The large blocks in use and their segments, as far as block sizes depend on them.
#[derive(Debug)]
pub(super) struct Neighbours {
    rules: SizeRules,
    edges: FxHashMap<u64, Edges>,
    pub(super) ranges: Ranges,
    /// Set if some memory is, or may be, in expandable segments, whose blocks end exactly.
    expandable: bool,
    /// Set if memory in no known segment is assumed to be in an expandable segment.
    unknown_is_expandable: bool,
    /// Set while expandable segments are on: rests are then split off in all segments. Programs may switch at run time;
    /// newly reserved segments show the setting.
    switched_on: bool,
    unsplit: Unsplit,
}

impl Neighbours {
    pub(super) fn new(settings: &SnapshotSettings, dump: &[&Segment], start: Ranges, maps: bool) -> Neighbours {
        let rules = SizeRules::new(settings);
        let expandable = maps || settings.expandable_segments || start.iter().any(|(_, range)| range.expandable);
        let mut neighbours = Neighbours {
            edges: FxHashMap::default(),
            ranges: Ranges::default(),
            expandable,
            unknown_is_expandable: settings.expandable_segments || (maps && start.is_empty()),
            switched_on: false,
            unsplit: Unsplit::of(dump, &rules),
            rules,
        };
        for (start, range) in start.iter().filter(|(_, range)| !range.expandable) {
            neighbours.edge(start + range.size).segment = start + range.size;
        }
        neighbours.ranges = start;
        neighbours
    }

    /// The rounded request: the size of the block, unless a small rest was left in it.
    pub(super) fn rounded(&self, requested: Bytes) -> Bytes {
        self.rules.rounded(requested)
    }

    /// The size of the block for a request at `address`; the error is the size of the free range, less than requested.
    pub(super) fn block(&self, address: Address, requested: Bytes) -> Result<Bytes, Bytes> {
        if let Some(segment) = self.unsplit.segment(address) {
            return Ok(segment);
        }
        let rounded = self.rules.rounded(requested);
        if !self.may_have_slack(address, rounded) {
            return Ok(rounded);
        }
        if self.rules.is_oversize(rounded) {
            return Ok(self.rest_of_segment(address).filter(|&rest| rest >= requested).unwrap_or(rounded));
        }
        match self.edge_behind(address, rounded).map(|edge| Bytes(edge - address.0)) {
            Some(space) if space < requested => Err(space),
            Some(space) => Ok(space),
            None => Ok(rounded),
        }
    }

    /// Tests that the block may be longer than the rounded request.
    pub(super) fn may_have_slack(&self, address: Address, rounded: Bytes) -> bool {
        let cut = self.switched_on || (self.expandable && self.is_expandable(address));
        kind(rounded) == SegmentKind::Large && !cut
    }

    /// Tests that a `cudaMalloc`ed segment ends at the address.
    pub(super) fn ends_segment(&self, address: Address) -> bool {
        self.edges.get(&(address.0 / MIB)).is_some_and(|edges| edges.segment == address.0)
    }

    fn is_expandable(&self, address: Address) -> bool {
        self.ranges.at(address).map_or(self.unknown_is_expandable, |(_, range)| range.expandable)
    }

    fn rest_of_segment(&self, address: Address) -> Option<Bytes> {
        self.ranges.at(address).map(|(start, range)| Bytes(start + range.size - address.0))
    }

    /// The start of the next block or the end of the segment, if it is too near for a rest to be split off.
    fn edge_behind(&self, address: Address, rounded: Bytes) -> Option<u64> {
        let end = address.0.saturating_add(rounded.0);
        let near = [end / MIB, end / MIB + 1].into_iter().filter_map(|mib| self.edges.get(&mib));
        let edges = near.flat_map(|edges| [edges.block, edges.segment]);
        edges.filter(|&edge| edge > address.0 && edge <= end.saturating_add(LARGEST_SLACK)).min()
    }

    /// Adds a block in use.
    pub(super) fn begin(&mut self, address: Address, block: Bytes) {
        if block.0 > LARGEST_SMALL {
            self.edge(address.0).block = address.0;
        }
    }

    /// Removes a block.
    pub(super) fn end(&mut self, address: Address, block: Bytes) {
        if block.0 > LARGEST_SMALL {
            let edges = self.edge(address.0);
            if edges.block == address.0 {
                edges.block = u64::MAX;
            }
        }
    }

    /// Turns expandable segments on or off, until a segment shows otherwise.
    pub(super) fn switch(&mut self, on: bool) {
        self.switched_on = on;
    }

    /// Adds reserved memory. Fails with the start of an overlapping range.
    pub(super) fn reserve(&mut self, event: &Event) -> Result<(), Address> {
        self.ranges.add(event)?;
        self.unsplit.reserve(event);
        self.switched_on = event.action == Action::SegmentMap;
        if event.action == Action::SegmentAlloc {
            let end = event.address.offset(event.size.0).0;
            self.edge(end).segment = end;
        }
        Ok(())
    }

    /// Removes released memory; `false` if it was not reserved.
    pub(super) fn release(&mut self, event: &Event) -> bool {
        let end = event.address.offset(event.size.0).0;
        let edges = self.edge(end);
        if edges.segment == end {
            edges.segment = u64::MAX;
        }
        self.ranges.remove(event)
    }

    fn edge(&mut self, address: u64) -> &mut Edges {
        self.edges.entry(address / MIB).or_insert(NO_EDGES)
    }
}

/// The grain of [`Neighbours::edges`]: no two large blocks start within it.
const MIB: u64 = 1 << 20;
