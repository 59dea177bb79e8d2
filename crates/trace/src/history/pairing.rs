//! Pairs the events of each allocation: each free with the event that allocated the block, by address.
//!
//! One pass, one look-up per event. A freed block without an allocation in the history is older than the history.

use rustc_hash::{FxHashMap, FxHashSet};

use super::inconsistency::{Inconsistencies, Inconsistency};
use super::kinds::Kinds;
use super::lifetime::{Lifetime, LifetimeId, Moment};
use crate::bytes::Bytes;
use crate::event::{Action, Event};
use crate::ids::{Address, EventIndex};
use crate::snapshot::{Block, BlockState};
use crate::stack::StackId;

/// An index of a lifetime while the number of older lifetimes is not yet known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Slot(u32);

impl Slot {
    const OLDER: u32 = 1 << 31;
    const NONE: Slot = Slot(u32::MAX);

    fn nth(n: usize) -> Slot {
        Slot(u32::try_from(n).unwrap_or(Slot::NONE.0))
    }

    fn nth_older(n: usize) -> Slot {
        Slot(Slot::nth(n).0 | Slot::OLDER)
    }

    fn is_older(self) -> bool {
        self.0 & Slot::OLDER != 0
    }

    /// The final index, after `older` lifetimes are put first.
    fn place(self, older: u32) -> u32 {
        match self {
            Slot::NONE => Links::NONE,
            Slot(n) if self.is_older() => n & !Slot::OLDER,
            Slot(n) => n + older,
        }
    }
}

/// The lifetimes of a history, and the lifetime of each event. Blocks in the dump have their size, others none yet.
#[derive(Debug)]
pub(super) struct Paired {
    /// Lifetimes older than the history first, then the others in the order of their events.
    pub(super) lifetimes: Vec<Lifetime>,
    /// The number of lifetimes older than the history.
    pub(super) older: usize,
    /// For each event the lifetime that it begins or ends.
    pub(super) links: Links,
}

/// The lifetime of each event, if any.
#[derive(Clone, Debug, Default)]
pub(super) struct Links(Vec<u32>);

impl Links {
    const NONE: u32 = Slot::NONE.0;

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn get(&self, event: EventIndex) -> Option<LifetimeId> {
        self.0.get(event.0 as usize).copied().filter(|&link| link != Links::NONE).map(LifetimeId)
    }

    /// In the order of the events.
    pub(super) fn iter(&self) -> impl Iterator<Item = Option<LifetimeId>> + '_ {
        self.0.iter().map(|&link| (link != Links::NONE).then_some(LifetimeId(link)))
    }
}

/// The state of the pairing pass.
pub(super) struct Pairing<'a> {
    /// The latest lifetime at each address.
    latest: FxHashMap<u64, Slot>,
    older: Vec<Lifetime>,
    begun: Vec<Lifetime>,
    links: Vec<Slot>,
    /// The lifetimes in use in the dump.
    dumped: Vec<Slot>,
    at_once: bool,
    requests: bool,
    /// The number of allocations with `free_completed` but no `free_requested`.
    bare: usize,
    faults: &'a mut Inconsistencies,
}

impl<'a> Pairing<'a> {
    pub(super) fn new(kinds: &Kinds, events: usize, faults: &'a mut Inconsistencies) -> Pairing<'a> {
        Pairing {
            latest: FxHashMap::default(),
            older: Vec::new(),
            begun: Vec::with_capacity(kinds.allocs),
            links: Vec::with_capacity(events),
            dumped: Vec::new(),
            at_once: kinds.frees_complete_at_once(),
            requests: kinds.requests > 0,
            bare: 0,
            faults,
        }
    }

    pub(super) fn walk(&mut self, events: &[Event]) {
        for (index, event) in (0..).map(EventIndex).zip(events) {
            let slot = match event.action {
                Action::Alloc => self.alloc(index, event),
                Action::FreeRequested => self.request_free(index, event),
                Action::FreeCompleted => self.complete_free(index, event),
                _ => Slot::NONE,
            };
            self.links.push(slot);
        }
        self.settle_requests();
    }

    fn alloc(&mut self, index: EventIndex, event: &Event) -> Slot {
        let new = Slot::nth(self.begun.len());
        let latest = self.latest.entry(event.address.0).or_insert(new);
        let before = std::mem::replace(latest, new);
        if before != new && lifetime_at(&mut self.older, &mut self.begun, before).free_completed == Moment::NEVER {
            *latest = before;
            return self.fault(Inconsistency::AllocatedTwice { event: index, address: event.address });
        }
        self.begun.push(lifetime(event.address, event.size, event.stack, index.into()));
        new
    }

    fn request_free(&mut self, index: EventIndex, event: &Event) -> Slot {
        let slot = self.latest_or_older(event);
        let at_once = self.at_once;
        let life = self.at(slot);
        if life.free_requested != Moment::NEVER {
            return self.fault(Inconsistency::FreedTwice { event: index, address: event.address });
        }
        life.free_requested = index.into();
        if at_once {
            life.free_completed = index.into();
        }
        slot
    }

    fn complete_free(&mut self, index: EventIndex, event: &Event) -> Slot {
        let slot = self.latest_or_older(event);
        let life = self.at(slot);
        if life.free_completed != Moment::NEVER {
            return self.fault(Inconsistency::FreedTwice { event: index, address: event.address });
        }
        life.free_completed = index.into();
        if life.free_requested == Moment::NEVER {
            life.free_requested = index.into();
            self.bare += usize::from(!slot.is_older());
        }
        slot
    }

    /// The latest lifetime at an address; a new one older than the history if there is none.
    fn latest_or_older(&mut self, event: &Event) -> Slot {
        let older = &mut self.older;
        *self.latest.entry(event.address.0).or_insert_with(|| {
            older.push(lifetime(event.address, event.size, StackId::EMPTY, Moment::BEFORE));
            Slot::nth_older(older.len() - 1)
        })
    }

    /// Blocks with `free_completed` but no `free_requested`, in a history that has both kinds, were freed before
    /// recording began.
    fn settle_requests(&mut self) {
        if self.at_once || (!self.requests && self.bare > 0) {
            return;
        }
        for life in self.older.iter_mut().filter(|life| life.free_requested == life.free_completed) {
            life.free_requested = if life.free_completed == Moment::NEVER { Moment::NEVER } else { Moment::BEFORE };
        }
    }

    /// Compares the end of the history with the dump's blocks, and adds the blocks that are older and never freed.
    pub(super) fn join_dump<'b>(&mut self, blocks: impl Iterator<Item = &'b Block>) {
        for block in blocks.filter(|block| block.state != BlockState::Inactive) {
            match self.latest.get(&block.address.0) {
                Some(&slot) => self.join_known(slot, block),
                None => self.join_older(block),
            }
        }
        let in_use = |life: &&Lifetime| life.free_completed == Moment::NEVER;
        if self.older.iter().chain(&self.begun).filter(in_use).count() > self.dumped.len() {
            self.name_missing();
        }
    }

    fn join_known(&mut self, slot: Slot, block: &Block) {
        let (at_once, requests, address) = (self.at_once, self.requests, block.address);
        let pending = block.state == BlockState::ActivePendingFree;
        let life = self.at(slot);
        if at_once && pending {
            life.free_completed = Moment::NEVER;
        }
        if life.free_completed != Moment::NEVER {
            return self.faults.add(Inconsistency::InUseInDump { address });
        }
        if life.stack == StackId::EMPTY {
            life.stack = block.stack;
        }
        life.block = block.size;
        if requests && pending != (life.free_requested != Moment::NEVER) {
            self.faults.add(Inconsistency::PendingInDump { address });
        }
        self.dumped.push(slot);
    }

    fn join_older(&mut self, block: &Block) {
        let mut life = lifetime(block.address, block.requested_size, block.stack, Moment::BEFORE);
        if block.state == BlockState::ActivePendingFree {
            life.free_requested = Moment::BEFORE;
        }
        life.block = block.size;
        self.dumped.push(Slot::nth_older(self.older.len()));
        self.older.push(life);
    }

    fn name_missing(&mut self) {
        let seen: FxHashSet<Slot> = self.dumped.iter().copied().collect();
        let older = self.older.iter().enumerate().map(|(n, life)| (Slot::nth_older(n), life));
        let begun = self.begun.iter().enumerate().map(|(n, life)| (Slot::nth(n), life));
        for (slot, life) in older.chain(begun) {
            if life.free_completed == Moment::NEVER && !seen.contains(&slot) {
                self.faults.add(Inconsistency::NotInDump { address: life.address });
            }
        }
    }

    fn at(&mut self, slot: Slot) -> &mut Lifetime {
        lifetime_at(&mut self.older, &mut self.begun, slot)
    }

    fn fault(&mut self, inconsistency: Inconsistency) -> Slot {
        self.faults.add(inconsistency);
        Slot::NONE
    }

    /// Puts the lifetimes older than the history first.
    pub(super) fn finish(self) -> Paired {
        let older = self.older.len();
        let shift = Slot::nth(older).0;
        let id = |slot: Slot| slot.place(shift);
        let mut lifetimes = self.begun;
        lifetimes.splice(0..0, self.older);
        let links = self.links.into_iter().map(id).collect();
        Paired { lifetimes, older, links: Links(links) }
    }
}

fn lifetime_at<'l>(older: &'l mut [Lifetime], begun: &'l mut [Lifetime], slot: Slot) -> &'l mut Lifetime {
    if slot.is_older() { &mut older[(slot.0 & !Slot::OLDER) as usize] } else { &mut begun[slot.0 as usize] }
}

fn lifetime(address: Address, requested: Bytes, stack: StackId, begun: Moment) -> Lifetime {
    let (free_requested, free_completed) = (Moment::NEVER, Moment::NEVER);
    Lifetime { address, block: Bytes::ZERO, requested, stack, begun, free_requested, free_completed }
}
