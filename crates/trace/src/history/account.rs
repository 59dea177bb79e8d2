//! Sizes and totals: the second pass over a history, with events already paired.

use super::inconsistency::{Inconsistencies, Inconsistency};
use super::lifetime::{Lifetime, LifetimeId, Moment};
use super::neighbours::Neighbours;
use super::oom::FailedRequest;
use super::pairing::Paired;
use super::state::SegmentChange;
use super::totals::{Peaks, Totals};
use crate::bytes::Bytes;
use crate::event::{Action, Event};
use crate::ids::EventIndex;

/// The totals before and after a history, and their peaks.
#[derive(Clone, Debug, Default)]
pub(super) struct Account {
    pub(super) start: Totals,
    pub(super) end: Totals,
    pub(super) peaks: Peaks,
    /// The events that reserved or released device memory.
    pub(super) segments: Vec<SegmentChange>,
    /// The failed requests.
    pub(super) ooms: Vec<FailedRequest>,
}

/// Computes the block of every lifetime and adds them up. Lifetimes older than the history have their blocks already.
/// `dumped` says that all memory reserved before the first event is known.
pub(super) fn add_up(
    paired: &mut Paired,
    events: &[Event],
    dumped: bool,
    neighbours: &mut Neighbours,
    faults: &mut Inconsistencies,
) -> Account {
    let mut walk = Walk::new(dumped, neighbours, faults);
    let (lifetimes, links) = (&mut paired.lifetimes, &paired.links);
    walk.start(&lifetimes[..paired.older]);
    let start = walk.totals;
    walk.peaks.raise(Moment::BEFORE, &start);
    for ((index, event), link) in (0..).map(EventIndex).zip(events).zip(links.iter()) {
        match link.and_then(|LifetimeId(id)| lifetimes.get_mut(id as usize)) {
            Some(life) => walk.step(index, life),
            None => walk.step_of_device(index, event),
        }
    }
    Account { start, end: walk.totals, peaks: walk.peaks, segments: walk.segments, ooms: walk.ooms }
}

struct Walk<'a> {
    totals: Totals,
    peaks: Peaks,
    segments: Vec<SegmentChange>,
    ooms: Vec<FailedRequest>,
    /// Set once more is active than reserved. Without a dump this is normal.
    exceeded: bool,
    neighbours: &'a mut Neighbours,
    faults: &'a mut Inconsistencies,
}

impl<'a> Walk<'a> {
    fn new(dumped: bool, neighbours: &'a mut Neighbours, faults: &'a mut Inconsistencies) -> Walk<'a> {
        let (totals, peaks) = (Totals::default(), Peaks::default());
        Walk { totals, peaks, segments: Vec::new(), ooms: Vec::new(), exceeded: !dumped, neighbours, faults }
    }

    fn start(&mut self, older: &[Lifetime]) {
        self.totals.reserved = self.neighbours.ranges.total();
        for life in older {
            self.totals.note(life, Moment::BEFORE);
            self.neighbours.begin(life.address, life.block);
        }
    }

    fn step(&mut self, index: EventIndex, life: &mut Lifetime) {
        let moment = Moment::after(index);
        if life.begun == moment {
            self.set_block_size(index, life);
            self.neighbours.begin(life.address, life.block);
        }
        if life.free_completed == moment {
            self.neighbours.end(life.address, life.block);
        }
        self.totals.note(life, moment);
        if life.begun == moment {
            self.peaks.raise(moment, &self.totals);
            self.compare_with_held(index);
        }
    }

    fn compare_with_held(&mut self, event: EventIndex) {
        let Totals { active, reserved, .. } = self.totals;
        if active > reserved && !self.exceeded {
            self.exceeded = true;
            self.faults.add(Inconsistency::MoreThanReserved { event, active, reserved });
        }
    }

    /// Takes the block size from the dump, if present, and compares it with the rules; else applies the rules.
    fn set_block_size(&mut self, event: EventIndex, life: &mut Lifetime) {
        let Lifetime { address, requested, block: dumped, .. } = *life;
        let reckoned = self.neighbours.block(address, requested).unwrap_or_else(|free| {
            self.faults.add(Inconsistency::TooLittleSpace { event, address, requested, free });
            self.neighbours.rounded(requested)
        });
        if dumped == Bytes::ZERO {
            life.block = reckoned;
        } else if dumped != reckoned {
            self.faults.add(Inconsistency::SizeInDump { address, reckoned, dumped });
        }
    }

    fn step_of_device(&mut self, event: EventIndex, said: &Event) {
        let address = said.address;
        let done = match said.action {
            Action::SegmentAlloc | Action::SegmentMap => {
                self.neighbours.reserve(said).map_err(|other| Inconsistency::SegmentOverlap { event, address, other })
            }
            Action::SegmentFree | Action::SegmentUnmap => {
                self.neighbours.release(said).then_some(()).ok_or(Inconsistency::NotReserved { event, address })
            }
            Action::Oom => return self.ooms.push(FailedRequest::new(event, said, self.totals)),
            _ => return,
        };
        match done {
            Ok(()) => self.reserve(event, said),
            Err(inconsistency) => self.faults.add(inconsistency),
        }
    }

    fn reserve(&mut self, index: EventIndex, event: &Event) {
        self.totals.reserved = self.neighbours.ranges.total();
        self.segments.push(SegmentChange { index, event: *event, reserved: self.totals.reserved });
        self.peaks.raise(Moment::after(index), &self.totals);
    }
}
