//! The problem in its own units: sizes in granules, lifetimes in epochs.
//!
//! # Note [Epochs]
//! Only the order of beginnings and ends matters, and only for buffers alive together. A history is cut where a
//! beginning follows an end; between two cuts first some buffers begin, then some end. All buffers alive in such an
//! epoch are alive together right after its last beginning. Two buffers are therefore alive together at some moment
//! exactly if they share an epoch, and the most alive at once is the largest sum over an epoch. A training trace has
//! two to four times as many events as epochs.

use super::timeline::{Timeline, Turn};
use super::{AlivePeak, Buffer};

/// The epochs in which a buffer is alive, at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Life {
    pub(super) first: u32,
    /// Exclusive.
    pub(super) end: u32,
}

impl Life {
    pub(super) fn length(self) -> u32 {
        self.end - self.first
    }

    pub(super) fn contains(self, epoch: u32) -> bool {
        self.first <= epoch && epoch < self.end
    }
}

/// A buffer with a non-empty life.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) life: Life,
    /// In granules.
    pub(super) size: u64,
}

/// The buffers to be packed, in the order of their beginnings.
pub(super) struct Problem {
    pub(super) items: Vec<Item>,
    /// The index of each item in the caller's list.
    pub(super) named: Vec<u32>,
    pub(super) epochs: u32,
    /// The peak load in granules.
    pub(super) bound: u64,
    /// The peak load in the caller's units.
    pub(super) peak: AlivePeak,
}

impl Problem {
    pub(super) fn new(buffers: &[Buffer]) -> Problem {
        let timeline = Timeline::of(buffers);
        let mut places = vec![0u32; buffers.len()];
        let mut problem =
            Problem { items: Vec::new(), named: Vec::new(), epochs: 1, bound: 0, peak: timeline.peak(buffers) };
        problem.bound = problem.peak.bytes.0 / super::GRANULE.0;
        let (mut ending, mut place) = (false, 0);
        for turn in timeline.turns(buffers) {
            match turn {
                Turn::Begins(index) => {
                    problem.epochs += u32::from(ending);
                    places[index as usize] = place;
                    place += 1;
                    problem.begin(index, &buffers[index as usize]);
                }
                Turn::Ends(index) => problem.items[places[index as usize] as usize].life.end = problem.epochs,
            }
            ending = matches!(turn, Turn::Ends(_));
        }
        problem
    }

    fn begin(&mut self, index: u32, buffer: &Buffer) {
        let life = Life { first: self.epochs - 1, end: self.epochs };
        self.items.push(Item { life, size: buffer.granules() });
        self.named.push(index);
    }

    /// The load of each epoch in granules.
    pub(super) fn loads(&self) -> Vec<u64> {
        let mut loads = vec![0u64; self.epochs as usize + 1];
        for Item { life, size } in &self.items {
            let (first, end) = (life.first as usize, life.end as usize);
            loads[first] = loads[first].wrapping_add(*size);
            loads[end] = loads[end].wrapping_sub(*size);
        }
        let mut alive = 0u64;
        for load in &mut loads {
            alive = alive.wrapping_add(*load);
            *load = alive;
        }
        loads.pop();
        loads
    }
}
