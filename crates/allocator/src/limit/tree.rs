//! The lowest free address for a lifetime, among all buffers placed before.
//!
//! # Note [Time tree]
//! Epochs are the leaves of a tree in which every node has eight children. A node holds two sets of ranges: those of
//! buffers alive in all its epochs and entered here, and those of buffers entered here or below ("any"). A lifetime is
//! the union of a few whole nodes; a buffer is entered at these nodes, and as "any" at the nodes above them. The ranges
//! in the way of a lifetime are the "any" sets of its whole nodes and the sets entered at the nodes above. The lowest
//! address free in all these sets is found by asking the sets in turn until all agree.
//!
//! The sets are unions, and unions of packed buffers are few long ranges: long-lived buffers lie side by side, and over
//! many epochs every address gets used. On traces 10 to 250 ranges are visited for each buffer. There is no worst-case
//! bound, hence the budget.

use std::ops::Range;

use super::busy::Busy;
use super::problem::{Item, Life};

/// The logarithm of the number of a node's children. The fastest of 1, 2, 3 and 4 on recorded traces.
const BITS: u32 = 3;

#[derive(Clone, Debug, Default)]
struct EpochNode {
    /// Ranges of buffers entered here.
    here: Busy,
    /// Ranges of buffers entered here or below. Empty for leaves, where both sets are equal.
    any: Busy,
}

/// The relation of a node to a lifetime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coverage {
    /// A maximal node whose epochs all belong to the lifetime.
    Whole,
    /// A node above a whole node.
    Above,
}

#[derive(Clone, Copy, Debug)]
struct Visit {
    level: u32,
    node: u32,
    part: Coverage,
    /// The index of the range to check next.
    next: u32,
}

/// The buffers placed so far, by epoch.
pub(super) struct TimeTree {
    levels: Vec<Vec<EpochNode>>,
    /// Reused between calls to save allocations.
    visits: Vec<Visit>,
    /// The number of sets and ranges visited.
    work: u64,
}

impl TimeTree {
    pub(super) fn new(epochs: u32) -> TimeTree {
        let counts =
            std::iter::successors(Some(epochs.max(1)), |&count| (count > 1).then(|| count.div_ceil(1 << BITS)));
        let levels = counts.map(|count| vec![EpochNode::default(); count as usize]).collect();
        TimeTree { levels, visits: Vec::new(), work: 0 }
    }

    /// Removes all buffers, and keeps the memory.
    pub(super) fn clear(&mut self) {
        for node in self.levels.iter_mut().flatten() {
            node.here.clear();
            node.any.clear();
        }
    }

    pub(super) fn work(&self) -> u64 {
        self.work
    }

    /// Places an item at the lowest address that is free during its life.
    pub(super) fn place(&mut self, item: Item) -> u64 {
        let mut visits = std::mem::take(&mut self.visits);
        visits.clear();
        visit(item.life, self.levels.len(), |visit| visits.push(visit));
        let offset = self.lowest(item.size, &mut visits);
        self.enter(&(offset..offset + item.size), &visits);
        self.visits = visits;
        offset
    }

    fn lowest(&mut self, size: u64, visits: &mut [Visit]) -> u64 {
        let (mut place, mut agreed) = (0, 0);
        for at in (0..visits.len()).cycle() {
            if agreed == visits.len() {
                break;
            }
            let visit = &mut visits[at];
            let seen = visit.next;
            let fits = self.levels[visit.level as usize][visit.node as usize].in_the_way(*visit).fit(
                place,
                size,
                &mut visit.next,
            );
            self.work += 1 + u64::from(visit.next - seen);
            agreed = if fits == place { agreed + 1 } else { 1 };
            place = fits;
        }
        place
    }

    fn enter(&mut self, place: &Range<u64>, visits: &[Visit]) {
        for visit in visits {
            let node = &mut self.levels[visit.level as usize][visit.node as usize];
            if visit.part == Coverage::Whole {
                node.here.insert(place);
            }
            if visit.level > 0 {
                node.any.insert(place);
            }
        }
    }
}

impl EpochNode {
    fn in_the_way(&self, visit: Visit) -> &Busy {
        if visit.part == Coverage::Whole && visit.level > 0 { &self.any } else { &self.here }
    }
}

/// Visits the nodes of a life, leaves first.
fn visit(life: Life, levels: usize, mut visit: impl FnMut(Visit)) {
    // The nodes still to be covered at this level.
    let (mut from, mut to) = (life.first, life.end);
    let last_level = levels.saturating_sub(1);
    for (level, deep) in (0..).zip(0..levels) {
        let mut call = |node: u32, part: Coverage| visit(Visit { level, node, part, next: 0 });
        let (first, last) = (life.first >> (BITS * level), (life.end - 1) >> (BITS * level));
        let covered = |node: u32| from <= node && node < to;
        if level > 0 && !covered(first) {
            call(first, Coverage::Above);
        }
        if level > 0 && last != first && !covered(last) {
            call(last, Coverage::Above);
        }
        while from < to && (from % (1 << BITS) != 0 || deep == last_level) {
            call(from, Coverage::Whole);
            from += 1;
        }
        while from < to && to % (1 << BITS) != 0 {
            to -= 1;
            call(to, Coverage::Whole);
        }
        (from, to) = (from.div_ceil(1 << BITS), to >> BITS);
    }
}
