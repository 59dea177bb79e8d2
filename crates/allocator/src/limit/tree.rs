//! The lowest free place for a lifetime, among all that were placed before.
//!
//! # Note [Time tree]
//! Epochs are the leaves of a tree in which every node has eight children. A node knows two sets of places: those taken
//! by buffers that are alive in all its epochs and were entered here, and those taken by any buffer entered here or below.
//! A lifetime is the union of a few whole nodes; it is entered there, and as "any" in the nodes above them. What is in
//! the way of a lifetime is then "any" of its whole nodes, and what was entered at the nodes above them. The lowest
//! place free in all these sets is found by going round until none of them objects.
//!
//! The sets are unions, and unions of packed buffers are few long ranges: what lives long lies side by side, and over many
//! epochs every address gets used. That makes it fast on traces, where 10 to 250 ranges are looked at for a buffer; it is
//! no bound, which is why the work is counted.

use std::ops::Range;

use super::busy::Busy;
use super::problem::{Item, Life};

/// The logarithm of the number of a node's children. Of 1, 2, 3 and 4 the fastest on recorded traces.
const BITS: u32 = 3;

#[derive(Clone, Debug, Default)]
struct Node {
    /// Taken by what was entered here.
    here: Busy,
    /// Taken by what was entered here or below. Not kept for leaves, where it would be the same.
    any: Busy,
}

/// How a node is related to a lifetime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// A largest node whose epochs all belong to it.
    Whole,
    /// A node above one of those.
    Above,
}

#[derive(Clone, Copy, Debug)]
struct Visit {
    level: u32,
    node: u32,
    part: Part,
    /// The range of its set to look at next.
    next: u32,
}

/// What has been placed, by epoch.
pub(super) struct Tree {
    levels: Vec<Vec<Node>>,
    /// Kept between calls for its memory only.
    visits: Vec<Visit>,
    /// How many sets and ranges were looked at.
    work: u64,
}

impl Tree {
    pub(super) fn new(epochs: u32) -> Tree {
        let counts =
            std::iter::successors(Some(epochs.max(1)), |&count| (count > 1).then(|| count.div_ceil(1 << BITS)));
        let levels = counts.map(|count| vec![Node::default(); count as usize]).collect();
        Tree { levels, visits: Vec::new(), work: 0 }
    }

    /// Forgets what was placed, and keeps the memory.
    pub(super) fn clear(&mut self) {
        for node in self.levels.iter_mut().flatten() {
            node.here.clear();
            node.any.clear();
        }
    }

    pub(super) fn work(&self) -> u64 {
        self.work
    }

    /// Puts an item at the lowest place that is free during its life.
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
            if visit.part == Part::Whole {
                node.here.insert(place);
            }
            if visit.level > 0 {
                node.any.insert(place);
            }
        }
    }
}

impl Node {
    fn in_the_way(&self, visit: Visit) -> &Busy {
        if visit.part == Part::Whole && visit.level > 0 { &self.any } else { &self.here }
    }
}

/// Visits the nodes of a life, from the leaves up.
fn visit(life: Life, levels: usize, mut visit: impl FnMut(Visit)) {
    // The nodes that are left to cover at this level.
    let (mut from, mut to) = (life.first, life.end);
    let last_level = levels.saturating_sub(1);
    for (level, deep) in (0..).zip(0..levels) {
        let mut call = |node: u32, part: Part| visit(Visit { level, node, part, next: 0 });
        let (first, last) = (life.first >> (BITS * level), (life.end - 1) >> (BITS * level));
        let covered = |node: u32| from <= node && node < to;
        if level > 0 && !covered(first) {
            call(first, Part::Above);
        }
        if level > 0 && last != first && !covered(last) {
            call(last, Part::Above);
        }
        while from < to && (from % (1 << BITS) != 0 || deep == last_level) {
            call(from, Part::Whole);
            from += 1;
        }
        while from < to && to % (1 << BITS) != 0 {
            to -= 1;
            call(to, Part::Whole);
        }
        (from, to) = (from.div_ceil(1 << BITS), to >> BITS);
    }
}
