//! Sizes and totals: the second pass over a history, when it is known which events belong together.

use super::inconsistency::{Inconsistencies, Inconsistency};
use super::lifetime::{Lifetime, LifetimeId, Moment};
use super::pairing::Paired;
use super::room::Room;
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
    /// The events that obtained or gave back device memory, and how much was reserved after them.
    pub(super) segments: Vec<(EventIndex, Bytes)>,
}

/// Gives every lifetime of the history its block and adds them up. Those older than the history have theirs already.
pub(super) fn account(paired: &mut Paired, events: &[Event], room: &mut Room, faults: &mut Inconsistencies) -> Account {
    let mut walk = Walk { totals: Totals::default(), peaks: Peaks::default(), segments: Vec::new(), room, faults };
    let (lifetimes, links) = (&mut paired.lifetimes, &paired.links);
    walk.start(&lifetimes[..paired.older]);
    let start = walk.totals;
    walk.peaks.raise(Moment::BEFORE, &start);
    for ((index, event), link) in (0..).map(EventIndex).zip(events).zip(links.iter()) {
        match link.and_then(|LifetimeId(id)| lifetimes.get_mut(id as usize)) {
            Some(life) => walk.step(index, life),
            None => walk.step_of_segments(index, event),
        }
    }
    Account { start, end: walk.totals, peaks: walk.peaks, segments: walk.segments }
}

struct Walk<'a> {
    totals: Totals,
    peaks: Peaks,
    segments: Vec<(EventIndex, Bytes)>,
    room: &'a mut Room,
    faults: &'a mut Inconsistencies,
}

impl Walk<'_> {
    fn start(&mut self, older: &[Lifetime]) {
        self.totals.reserved = self.room.ranges.total();
        for life in older {
            self.totals.note(life, Moment::BEFORE);
            self.room.begin(life.address, life.block);
        }
    }

    fn step(&mut self, index: EventIndex, life: &mut Lifetime) {
        let moment = Moment::after(index);
        if life.begun == moment {
            self.size(index, life);
            self.room.begin(life.address, life.block);
        }
        if life.free_completed == moment {
            self.room.end(life.address, life.block);
        }
        self.totals.note(life, moment);
        if life.begun == moment {
            self.peaks.raise(moment, &self.totals);
        }
    }

    /// The block by the rules, unless the dump states it: then the rules are only held against it.
    fn size(&mut self, event: EventIndex, life: &mut Lifetime) {
        let Lifetime { address, requested, block: dumped, .. } = *life;
        let reckoned = self.room.block(address, requested).unwrap_or_else(|free| {
            self.faults.add(Inconsistency::NoRoom { event, address, requested, free });
            self.room.rounded(requested)
        });
        if dumped == Bytes::ZERO {
            life.block = reckoned;
        } else if dumped != reckoned {
            self.faults.add(Inconsistency::SizeInDump { address, reckoned, dumped });
        }
    }

    fn step_of_segments(&mut self, event: EventIndex, said: &Event) {
        let address = said.address;
        let done = match said.action {
            Action::SegmentAlloc | Action::SegmentMap => {
                self.room.obtain(said).map_err(|other| Inconsistency::SegmentOverlap { event, address, other })
            }
            Action::SegmentFree | Action::SegmentUnmap => {
                self.room.give_back(said).then_some(()).ok_or(Inconsistency::NotHeld { event, address })
            }
            _ => return,
        };
        match done {
            Ok(()) => self.reserve(event),
            Err(inconsistency) => self.faults.add(inconsistency),
        }
    }

    fn reserve(&mut self, event: EventIndex) {
        self.totals.reserved = self.room.ranges.total();
        self.segments.push((event, self.totals.reserved));
        self.peaks.raise(Moment::after(event), &self.totals);
    }
}
