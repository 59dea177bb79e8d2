//! The exact state of a device's memory at any moment of its history.
//!
//! # Note [History]
//! A trace states events; PyTorch's counters follow from the events (Note `[Block sizes]`). The beginning is often
//! missing: the recording started late, or its buffer was full. The state before the first event follows from the dump
//! at the end: blocks that are freed but were never allocated in the trace existed before, and so did blocks of the
//! dump without an event; segment events are undone backwards. There are two passes: the first pairs the events of each
//! allocation by address, the second adds up. Neither sorts the blocks, so a history of ten million events takes
//! seconds; blocks are sorted by address only for a requested moment.

mod account;
mod downsample;
mod inconsistency;
mod kinds;
mod lifetime;
mod neighbours;
mod older;
mod oom;
mod pairing;
mod ranges;
mod size;
mod state;
mod steps;
mod totals;
mod unsplit;

use self::account::add_up;
pub use self::downsample::TotalsAt;
pub use self::inconsistency::{Inconsistencies, Inconsistency};
use self::kinds::Kinds;
pub use self::lifetime::{Lifetime, LifetimeId, Moment};
use self::neighbours::Neighbours;
use self::older::size_older;
pub use self::oom::{FailedRequest, FreeBlocks};
use self::pairing::{Links, Paired, Pairing};
use self::ranges::{Range, Ranges};
use self::state::SegmentChange;
pub use self::state::{Fragmentation, Gap, SegmentState, State, UsedBlock};
pub use self::steps::{Step, Steps};
pub use self::totals::{Peak, Peaks, Totals};
use crate::event::{Action, Event};
use crate::ids::{DeviceIndex, EventIndex};
use crate::snapshot::{Segment, Snapshot, SnapshotSettings};

/// The history of a device's memory.
#[derive(Clone, Debug, Default)]
pub struct History {
    lifetimes: Vec<Lifetime>,
    older: usize,
    links: Links,
    segments_at_start: Ranges,
    segment_changes: Vec<SegmentChange>,
    ooms: Vec<FailedRequest>,
    start: Totals,
    end: Totals,
    peaks: Peaks,
    unsure: u64,
    inconsistencies: Inconsistencies,
}

impl History {
    /// Reads the history of a device of `snapshot`, up to its dump.
    pub fn of(snapshot: &Snapshot, device: DeviceIndex) -> History {
        let events = snapshot.traces.get(device.0 as usize).map_or(&[][..], Vec::as_slice);
        let dump: Vec<&Segment> = snapshot.segments.iter().filter(|segment| segment.device == device).collect();
        History::walk(events, Some(&dump), &snapshot.settings)
    }

    /// Reads the history of `events` that end with `dump`, the device's segments by address; `None` without a dump.
    ///
    /// Without a dump, blocks older than the history and not freed in it remain unknown.
    pub fn walk(events: &[Event], dump: Option<&[&Segment]>, settings: &SnapshotSettings) -> History {
        let kinds = Kinds::of(events);
        let mut faults = Inconsistencies::default();
        let mut paired = pair(events, dump, &kinds, &mut faults);
        let start = segments_before(events, dump, &kinds);
        let mut neighbours = Neighbours::new(settings, dump.unwrap_or_default(), start, maps(events, &kinds));
        let unsure = size_older(&mut paired, &neighbours);
        let segments_at_start = neighbours.ranges.clone();
        neighbours.switch(starts_expandable(events, &kinds, settings));
        let account = add_up(&mut paired, events, dump.is_some(), &mut neighbours, &mut faults);
        compare_segments(dump, &neighbours.ranges, &mut faults);
        let Paired { lifetimes, older, links } = paired;
        History {
            lifetimes,
            older,
            links,
            segments_at_start,
            segment_changes: account.segments,
            ooms: account.ooms,
            start: account.start,
            end: account.end,
            peaks: account.peaks,
            unsure,
            inconsistencies: faults,
        }
    }

    /// The number of events.
    pub fn event_count(&self) -> usize {
        self.links.len()
    }

    /// All allocations: first those older than the history, then the others in the order of their events.
    pub fn lifetimes(&self) -> &[Lifetime] {
        &self.lifetimes
    }

    /// The allocations older than the history.
    pub fn older(&self) -> &[Lifetime] {
        &self.lifetimes[..self.older]
    }

    /// The allocation that an event begins or ends.
    pub fn lifetime_of(&self, event: EventIndex) -> Option<LifetimeId> {
        self.links.get(event)
    }

    /// The allocated blocks at a moment, in the order of allocation.
    pub fn live_after(&self, moment: impl Into<Moment>) -> impl Iterator<Item = &Lifetime> {
        let moment = moment.into();
        let begun = self.lifetimes.partition_point(|life| life.begun <= moment);
        self.lifetimes[..begun].iter().filter(move |life| life.is_live_after(moment))
    }

    /// The peak of each total.
    pub fn peaks(&self) -> &Peaks {
        &self.peaks
    }

    /// The totals before the first event.
    pub fn at_start(&self) -> Totals {
        self.start
    }

    /// The totals after the last event.
    pub fn at_end(&self) -> Totals {
        self.end
    }

    /// The totals right after each event, in order.
    pub fn totals(&self) -> impl Iterator<Item = Totals> + '_ {
        let (mut now, mut segments) = (self.start, self.segment_changes.iter().peekable());
        (0..).map(EventIndex).zip(self.links.iter()).map(move |(index, link)| {
            if let Some(life) = link.and_then(|id| self.lifetimes.get(id.0 as usize)) {
                now.note(life, index.into());
            } else if let Some(change) = segments.next_if(|change| change.index == index) {
                now.reserved = change.reserved;
            }
            now
        })
    }

    /// Tests that the history begins with an empty allocator, so that its peaks are the program's.
    pub fn is_whole(&self) -> bool {
        self.older == 0 && self.segments_at_start.is_empty()
    }

    /// The number of blocks older than the history that may be up to 1 MiB longer than computed. See
    /// `history/older.rs`.
    pub fn unsure(&self) -> u64 {
        self.unsure
    }

    /// Contradictions among the events, and between history and dump.
    pub fn inconsistencies(&self) -> &Inconsistencies {
        &self.inconsistencies
    }

    /// The failed requests, in order.
    pub fn ooms(&self) -> &[FailedRequest] {
        &self.ooms
    }
}

fn pair(events: &[Event], dump: Option<&[&Segment]>, kinds: &Kinds, faults: &mut Inconsistencies) -> Paired {
    let mut pairing = Pairing::new(kinds, events.len(), faults);
    pairing.walk(events);
    if let Some(segments) = dump {
        pairing.join_dump(segments.iter().flat_map(|segment| &segment.blocks));
    }
    pairing.finish()
}

/// The segments before the first event: those of the dump, with every event undone.
fn segments_before(events: &[Event], dump: Option<&[&Segment]>, kinds: &Kinds) -> Ranges {
    let mut ranges = dump.map_or_else(Ranges::default, Ranges::of);
    for event in kinds.segments.iter().rev().filter_map(|index| events.get(index.0 as usize)) {
        ranges.undo(event);
    }
    ranges
}

/// Tests for memory of expandable segments.
fn maps(events: &[Event], kinds: &Kinds) -> bool {
    let mut segments = kinds.segments.iter().filter_map(|index| events.get(index.0 as usize));
    segments.any(|event| matches!(event.action, Action::SegmentMap | Action::SegmentUnmap))
}

/// Tests that expandable segments were on at the first event, by the first segment that was reserved.
fn starts_expandable(events: &[Event], kinds: &Kinds, settings: &SnapshotSettings) -> bool {
    let segments = kinds.segments.iter().filter_map(|index| events.get(index.0 as usize));
    let first =
        segments.map(|event| event.action).find(|action| matches!(action, Action::SegmentAlloc | Action::SegmentMap));
    first.map_or(settings.expandable_segments, |action| action == Action::SegmentMap)
}

fn compare_segments(dump: Option<&[&Segment]>, end: &Ranges, faults: &mut Inconsistencies) {
    let Some(dump) = dump.map(Ranges::of) else {
        return;
    };
    let extent = |(start, range): (u64, &Range)| (start, range.size);
    if !dump.iter().map(extent).eq(end.iter().map(extent)) {
        let (reckoned, dumped) = (end.total(), dump.total());
        faults.add(Inconsistency::SegmentsInDump { reckoned, dumped });
    }
}
