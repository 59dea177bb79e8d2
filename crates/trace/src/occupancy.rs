//! The exact state of a device's memory at any event of its history.
//!
//! PyTorch's own counters are not in a trace; they follow from it (Note [Block sizes]). A history that was cut at its
//! beginning is walked as far as it goes: what is freed without having been seen is counted, not an error.

mod inconsistency;
mod lifetime;
mod reserved;
mod size;

use std::collections::BTreeMap;

pub use self::inconsistency::Inconsistency;
pub use self::lifetime::{Allocations, Lifetime, Peak, allocations};
use self::reserved::Reserved;
use self::size::SizeRules;
use crate::bytes::Bytes;
use crate::event::{Action, Event};
use crate::ids::{Address, EventIndex};
use crate::snapshot::Settings;

/// A block in the program's hands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// The event that handed it out.
    pub event: EventIndex,
    /// Where it starts.
    pub address: Address,
    /// What the program asked for.
    pub requested: Bytes,
    /// What it got, and what PyTorch's `allocated_bytes` counts.
    pub block: Bytes,
}

/// What one event changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A block was handed out.
    Allocated(Allocation),
    /// The program let go of a block; it stays active.
    FreeRequested(Allocation),
    /// A block that the program had let go of went back to its pool.
    FreeCompleted(Allocation),
    /// A block went back to its pool and no event before said that the program let go of it.
    Freed(Allocation),
    /// Device memory was obtained.
    Reserved(Bytes),
    /// Device memory was given back.
    Released(Bytes),
    /// Something that the trace never showed being obtained was freed or given back.
    Unknown,
    /// Nothing: the event only notes something.
    Nothing,
}

#[derive(Clone, Copy, Debug)]
struct Active {
    allocation: Allocation,
    /// The program let go of it, another stream may still use it.
    pending: bool,
}

impl Active {
    fn end(&self) -> u64 {
        self.allocation.address.0.saturating_add(self.allocation.block.0)
    }
}

/// The state of one device's memory between two events.
#[derive(Clone, Debug)]
pub struct Occupancy {
    rules: SizeRules,
    reserved: Reserved,
    active: BTreeMap<u64, Active>,
    allocated_bytes: Bytes,
    active_bytes: Bytes,
    unknown_frees: u64,
    unknown_releases: u64,
}

impl Occupancy {
    /// A device of which nothing is reserved yet.
    pub fn new(settings: &Settings) -> Occupancy {
        Occupancy {
            rules: SizeRules::new(settings),
            reserved: Reserved::default(),
            active: BTreeMap::new(),
            allocated_bytes: Bytes::ZERO,
            active_bytes: Bytes::ZERO,
            unknown_frees: 0,
            unknown_releases: 0,
        }
    }

    /// Goes one event further. After an error the state is what it was before the event.
    pub fn apply(&mut self, index: EventIndex, event: &Event) -> Result<Change, Inconsistency> {
        match event.action {
            Action::Alloc => self.alloc(index, event),
            Action::FreeRequested => Ok(self.request_free(event.address)),
            Action::FreeCompleted => Ok(self.complete_free(event.address)),
            Action::SegmentAlloc | Action::SegmentMap => self.obtain(index, event),
            Action::SegmentFree | Action::SegmentUnmap => self.give_back(index, event),
            Action::Snapshot | Action::Oom | Action::Annotate => Ok(Change::Nothing),
        }
    }

    /// Bytes of blocks in the program's hands: PyTorch's `allocated_bytes`.
    pub fn allocated(&self) -> Bytes {
        self.allocated_bytes
    }

    /// Bytes of blocks that are not free, those let go of but not yet usable included: PyTorch's `active_bytes`.
    pub fn active(&self) -> Bytes {
        self.active_bytes
    }

    /// Bytes obtained from the device: PyTorch's `reserved_bytes`.
    pub fn reserved(&self) -> Bytes {
        self.reserved.total()
    }

    /// The blocks in the program's hands, by address.
    pub fn live(&self) -> impl Iterator<Item = Allocation> + '_ {
        self.active.values().filter(|block| !block.pending).map(|block| block.allocation)
    }

    /// The block in the program's hands that holds `address`, if one does.
    pub fn live_at(&self, address: Address) -> Option<Allocation> {
        let (_, block) = self.active.range(..=address.0).next_back()?;
        (!block.pending && address.0 < block.end()).then_some(block.allocation)
    }

    /// How many blocks were freed that the trace never showed being handed out: its beginning is missing.
    pub fn unknown_frees(&self) -> u64 {
        self.unknown_frees
    }

    /// How often device memory was given back that the trace never showed being obtained.
    pub fn unknown_releases(&self) -> u64 {
        self.unknown_releases
    }

    fn alloc(&mut self, event: EventIndex, said: &Event) -> Result<Change, Inconsistency> {
        let Event { address, size: requested, .. } = *said;
        if let Some(other) = self.active_over(address.0, address.0.saturating_add(1)) {
            return Err(Inconsistency::Overlap { event, address, other });
        }
        let (free, known) = self.free_at(address);
        if free < requested {
            return Err(Inconsistency::NoRoom { event, address, requested, free });
        }
        let block = if known { self.rules.block(requested, free) } else { self.rules.rounded(requested).min(free) };
        let allocation = Allocation { event, address, requested, block };
        self.active.insert(address.0, Active { allocation, pending: false });
        self.allocated_bytes += block;
        self.active_bytes += block;
        Ok(Change::Allocated(allocation))
    }

    /// How much is free from `address` on, and whether the end of its segment is known.
    fn free_at(&self, address: Address) -> (Bytes, bool) {
        let segment_end = self.reserved.end_of(address);
        let end = segment_end.unwrap_or(u64::MAX);
        let next = self.active.range(address.0..end).next().map_or(end, |(&next, _)| next);
        (Bytes(next - address.0), segment_end.is_some())
    }

    /// The start of an active block that reaches into `start..end`.
    fn active_over(&self, start: u64, end: u64) -> Option<Address> {
        let (&address, block) = self.active.range(..end).next_back()?;
        (block.end() > start).then_some(Address(address))
    }

    fn request_free(&mut self, address: Address) -> Change {
        match self.active.get_mut(&address.0) {
            Some(block) if !block.pending => {
                block.pending = true;
                self.allocated_bytes -= block.allocation.block;
                Change::FreeRequested(block.allocation)
            }
            _ => Change::Unknown, // Its completion is counted.
        }
    }

    fn complete_free(&mut self, address: Address) -> Change {
        let Some(Active { allocation, pending }) = self.active.remove(&address.0) else {
            self.unknown_frees += 1;
            return Change::Unknown;
        };
        self.active_bytes -= allocation.block;
        if pending {
            return Change::FreeCompleted(allocation);
        }
        self.allocated_bytes -= allocation.block;
        Change::Freed(allocation)
    }

    fn obtain(&mut self, event: EventIndex, said: &Event) -> Result<Change, Inconsistency> {
        if said.action == Action::SegmentMap {
            self.rules.saw_expandable();
        }
        let added = self.reserved.add(said);
        added.map_err(|other| Inconsistency::SegmentOverlap { event, address: said.address, other })?;
        Ok(Change::Reserved(said.size))
    }

    fn give_back(&mut self, event: EventIndex, said: &Event) -> Result<Change, Inconsistency> {
        let end = said.address.0.saturating_add(said.size.0);
        if let Some(block) = self.active_over(said.address.0, end) {
            return Err(Inconsistency::SegmentInUse { event, address: said.address, block });
        }
        if self.reserved.remove(said) {
            return Ok(Change::Released(said.size));
        }
        self.unknown_releases += 1;
        Ok(Change::Unknown)
    }
}
