//! All allocations of a history: when each began and ended, and when there were most of them.

use std::collections::HashMap;

use super::{Allocation, Change, Inconsistency, Occupancy};
use crate::bytes::Bytes;
use crate::event::Event;
use crate::ids::EventIndex;
use crate::snapshot::Settings;

/// One allocation from its beginning to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// What was handed out, and when.
    pub allocation: Allocation,
    /// When the program let go of it; `None` where it never did.
    pub free_requested: Option<EventIndex>,
    /// When the block could be used again; `None` where that never came.
    pub free_completed: Option<EventIndex>,
}

impl Lifetime {
    /// Whether the allocation is in the program's hands right after `event`.
    pub fn is_live_after(&self, event: EventIndex) -> bool {
        self.allocation.event <= event && self.free_requested.is_none_or(|freed| freed > event)
    }
}

/// The first event after which a total was as large as it ever got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peak {
    /// Which event.
    pub event: EventIndex,
    /// The total after it.
    pub bytes: Bytes,
}

impl Peak {
    fn raise(peak: &mut Option<Peak>, event: EventIndex, bytes: Bytes) {
        if bytes > peak.map_or(Bytes::ZERO, |peak| peak.bytes) {
            *peak = Some(Peak { event, bytes });
        }
    }
}

/// What a whole history amounts to.
#[derive(Clone, Debug, Default)]
pub struct Allocations {
    /// Every allocation, in the order of their events.
    pub list: Vec<Lifetime>,
    /// When the most was allocated; `None` where nothing ever was.
    pub allocated_peak: Option<Peak>,
    /// When the most was reserved; `None` where nothing ever was.
    pub reserved_peak: Option<Peak>,
    /// Allocated after the last event.
    pub allocated_at_end: Bytes,
    /// Reserved after the last event.
    pub reserved_at_end: Bytes,
    /// Blocks freed that were never seen being handed out: the beginning of the history is missing.
    pub unknown_frees: u64,
    /// Events that contradict those before them, and were left out.
    pub inconsistencies: Vec<Inconsistency>,
}

impl Allocations {
    /// What is in the program's hands right after `event`, in the order it was handed out.
    pub fn live_after(&self, event: EventIndex) -> impl Iterator<Item = &Lifetime> {
        let begun = self.list.partition_point(|lifetime| lifetime.allocation.event <= event);
        self.list[..begun].iter().filter(move |lifetime| lifetime.is_live_after(event))
    }

    /// The bytes allocated right after `event`: the sum of the blocks that are live then.
    pub fn allocated_after(&self, event: EventIndex) -> Bytes {
        self.live_after(event).map(|lifetime| lifetime.allocation.block).sum()
    }
}

/// Walks the history of one device once.
pub fn allocations(trace: &[Event], settings: &Settings) -> Allocations {
    let mut walk = Walk { occupancy: Occupancy::new(settings), open: HashMap::new(), found: Allocations::default() };
    for (index, event) in (0..).map(EventIndex).zip(trace) {
        walk.step(index, event);
    }
    walk.found.allocated_at_end = walk.occupancy.allocated();
    walk.found.reserved_at_end = walk.occupancy.reserved();
    walk.found.unknown_frees = walk.occupancy.unknown_frees();
    walk.found
}

struct Walk {
    occupancy: Occupancy,
    /// Where in the list the active allocation of an event is.
    open: HashMap<EventIndex, usize>,
    found: Allocations,
}

impl Walk {
    fn step(&mut self, index: EventIndex, event: &Event) {
        match self.occupancy.apply(index, event) {
            Ok(change) => self.note(index, change),
            Err(inconsistency) => self.found.inconsistencies.push(inconsistency),
        }
    }

    fn note(&mut self, index: EventIndex, change: Change) {
        match change {
            Change::Allocated(allocation) => self.begin(index, allocation),
            Change::FreeRequested(allocation) => {
                self.update(allocation, |lifetime| lifetime.free_requested = Some(index));
            }
            Change::FreeCompleted(allocation) | Change::Freed(allocation) => {
                self.end(index, allocation);
            }
            Change::Reserved(_) => {
                Peak::raise(&mut self.found.reserved_peak, index, self.occupancy.reserved());
            }
            Change::Released(_) | Change::Unknown | Change::Nothing => {}
        }
    }

    fn begin(&mut self, index: EventIndex, allocation: Allocation) {
        self.open.insert(index, self.found.list.len());
        self.found.list.push(Lifetime { allocation, free_requested: None, free_completed: None });
        Peak::raise(&mut self.found.allocated_peak, index, self.occupancy.allocated());
    }

    fn end(&mut self, index: EventIndex, allocation: Allocation) {
        self.update(allocation, |lifetime| {
            lifetime.free_requested.get_or_insert(index);
            lifetime.free_completed = Some(index);
        });
        self.open.remove(&allocation.event);
    }

    fn update(&mut self, allocation: Allocation, change: impl FnOnce(&mut Lifetime)) {
        if let Some(lifetime) = self.open.get(&allocation.event).and_then(|&at| self.found.list.get_mut(at)) {
            change(lifetime);
        }
    }
}
