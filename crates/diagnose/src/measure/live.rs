//! The live allocations at successive events: one walk answers all look-ups of an address.

use std::collections::BTreeMap;

use trace::{Address, EventIndex, Lifetime};

use super::life::Life;
use super::view::View;

/// The live allocations just before an event, by address.
pub(super) struct Live<'a> {
    view: &'a View<'a>,
    at: EventIndex,
    /// Maps a start address to the end address and the index in the view's list.
    blocks: BTreeMap<u64, (u64, usize)>,
    /// The index of the next allocation to begin.
    next: usize,
    /// The allocation that ends at each event.
    ends: BTreeMap<EventIndex, usize>,
}

impl<'a> Live<'a> {
    /// Starts before the first event.
    pub(super) fn new(view: &'a View<'a>) -> Live<'a> {
        let lives = view.found.lifetimes().iter().enumerate();
        let end = |(index, life): (usize, &Lifetime)| Some((life.freed()?, index));
        Live { view, at: EventIndex(0), blocks: BTreeMap::new(), next: 0, ends: lives.filter_map(end).collect() }
    }

    /// Advances to just before the first event that satisfies `reached`, or to the end. Never goes back.
    pub(super) fn advance(&mut self, reached: impl Fn(&View, EventIndex) -> bool) {
        while self.at < self.view.end() && !reached(self.view, self.at) {
            self.step();
        }
    }

    /// Returns the index of the allocation that contains `address`: a storage may begin inside an allocation.
    pub(super) fn holder(&self, address: Address) -> Option<usize> {
        let (_, &(end, index)) = self.blocks.range(..=address.0).next_back()?;
        (address.0 < end).then_some(index)
    }

    fn step(&mut self) {
        let lives = self.view.found.lifetimes();
        while let Some(life) = lives.get(self.next).filter(|life| life.begun() <= Some(self.at)) {
            let start = life.address().0;
            self.blocks.insert(start, (start.saturating_add(life.block().0), self.next));
            self.next += 1;
        }
        if let Some(life) = self.ends.get(&self.at).and_then(|&ended| self.view.found.lifetimes().get(ended)) {
            self.blocks.remove(&life.address().0);
        }
        self.at = EventIndex(self.at.0 + 1);
    }
}
