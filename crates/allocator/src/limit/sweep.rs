//! Best fit in the order of time: the behaviour of an allocator that does not know the future.

use std::collections::{BTreeMap, BTreeSet};

use super::problem::Problem;

/// Places the buffers of `chosen`, sorted by their beginnings, from `floor` on. Returns the end of the highest.
pub(super) fn best_fit(problem: &Problem, chosen: &[u32], floor: u64, offsets: &mut [u64]) -> u64 {
    let mut by_end = chosen.to_vec();
    by_end.sort_by_key(|&item| problem.items[item as usize].life.end);
    let mut ending = by_end.into_iter().peekable();
    let mut gaps = Gaps { top: floor, ..Gaps::default() };
    for &new in chosen {
        let item = problem.items[new as usize];
        while let Some(old) = ending.next_if(|&old| problem.items[old as usize].life.end <= item.life.first) {
            gaps.give(offsets[old as usize], problem.items[old as usize].size);
        }
        offsets[new as usize] = gaps.take(item.size);
    }
    gaps.top
}

/// The free ranges below the highest address used so far.
#[derive(Default)]
struct Gaps {
    by_offset: BTreeMap<u64, u64>,
    by_size: BTreeSet<(u64, u64)>,
    top: u64,
}

impl Gaps {
    /// Takes the smallest gap that is large enough, the lowest among equals; else extends the end.
    fn take(&mut self, size: u64) -> u64 {
        if let Some(&(room, offset)) = self.by_size.range((size, 0)..).next() {
            self.remove(offset, room);
            self.insert(offset + size, room - size);
            return offset;
        }
        let last = self.by_offset.last_key_value().map(|(&offset, &room)| (offset, room));
        let at_the_end = last.filter(|(offset, room)| offset + room == self.top);
        let offset = at_the_end.map_or(self.top, |(offset, _)| offset);
        if let Some((offset, room)) = at_the_end {
            self.remove(offset, room);
        }
        self.top = offset + size;
        offset
    }

    fn give(&mut self, mut offset: u64, mut size: u64) {
        if let Some((&before, &room)) = self.by_offset.range(..offset).next_back()
            && before + room == offset
        {
            self.remove(before, room);
            (offset, size) = (before, size + room);
        }
        if let Some(&room) = self.by_offset.get(&(offset + size)) {
            self.remove(offset + size, room);
            size += room;
        }
        self.insert(offset, size);
    }

    fn insert(&mut self, offset: u64, room: u64) {
        if room > 0 {
            self.by_offset.insert(offset, room);
            self.by_size.insert((room, offset));
        }
    }

    fn remove(&mut self, offset: u64, room: u64) {
        self.by_offset.remove(&offset);
        self.by_size.remove(&(room, offset));
    }
}
