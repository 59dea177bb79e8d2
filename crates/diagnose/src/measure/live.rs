//! The live allocations at successive events: one walk answers all look-ups of an address.

use std::collections::BTreeMap;

use trace::{Address, EventIndex, Lifetime};

use super::life::Life;

/// The live allocations just before an event, by address.
pub(super) struct Live<'a> {
    lifetimes: &'a [Lifetime],
    end: EventIndex,
    at: EventIndex,
    /// Maps a start address to the end address and the index in the list of lifetimes.
    blocks: BTreeMap<u64, (u64, usize)>,
    /// The index of the next allocation to begin.
    next: usize,
    /// The allocation that ends at each event.
    ends: BTreeMap<EventIndex, usize>,
}

impl<'a> Live<'a> {
    /// Starts before the first event of a history that ends before event `end`.
    pub(super) fn new(lifetimes: &'a [Lifetime], end: EventIndex) -> Live<'a> {
        let freed = |(index, life): (usize, &Lifetime)| Some((life.freed()?, index));
        let ends = lifetimes.iter().enumerate().filter_map(freed).collect();
        Live { lifetimes, end, at: EventIndex(0), blocks: BTreeMap::new(), next: 0, ends }
    }

    /// Advances to just before the first event that satisfies `reached`, or to the end. Never goes back.
    pub(super) fn advance(&mut self, reached: impl Fn(EventIndex) -> bool) {
        while self.at < self.end && !reached(self.at) {
            self.step();
        }
    }

    /// Returns the index of the allocation that contains `address`: a storage may begin inside an allocation.
    pub(super) fn holder(&self, address: Address) -> Option<usize> {
        let (_, &(end, index)) = self.blocks.range(..=address.0).next_back()?;
        (address.0 < end).then_some(index)
    }

    fn step(&mut self) {
        while let Some(life) = self.lifetimes.get(self.next).filter(|life| life.begun() <= Some(self.at)) {
            let start = life.address().0;
            self.blocks.insert(start, (start.saturating_add(life.block().0), self.next));
            self.next += 1;
        }
        if let Some(life) = self.ends.get(&self.at).and_then(|&ended| self.lifetimes.get(ended)) {
            self.blocks.remove(&life.address().0);
        }
        self.at = EventIndex(self.at.0 + 1);
    }
}
