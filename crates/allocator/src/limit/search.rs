//! The search for a good order.
//!
//! # Note [Orders suffice]
//! For some order of the buffers, first fit (each buffer at the lowest address that is free during its life) finds a
//! packing as good as any. Proof: take a best packing, and place its buffers from the lowest to the highest. No buffer
//! ends up higher than in the best packing: the buffers placed earlier that share its life lie below it in the best
//! packing, and by induction now lie no higher, so its old address is still free. The search is therefore a search for
//! an order.
//!
//! # Note [Search]
//! 1. Best fit in the order of time, as a measure and as a fallback.
//! 2. First fit in each [`Order`]. A pass ends as soon as it cannot beat the best known packing.
//! 3. The best order is improved: buffers that ended above a goal are placed earlier in the next pass ("squeaky wheel"
//!    optimization). The goal cycles from the bound upwards in quarters of the distance to the best known peak.
//!
//! The search ends when the bound is reached, which proves the packing best; after [`PATIENCE`] passes without
//! progress; or when the [`Budget`] is spent. The budget counts visits of ranges, not seconds, so the result is
//! deterministic. If the first pass alone spends the budget, the remaining buffers, all small, are packed on top by
//! best fit.

use super::Method;
use super::order::Order;
use super::problem::Problem;
use super::sweep::best_fit;
use super::tree::TimeTree;

/// The budget of a search, in visits of ranges.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// The whole budget.
    pub(super) whole: u64,
    /// The cost after which the best order is no longer improved: further improvement seldom gains more than a few per
    /// mille.
    pub(super) improving: u64,
}

impl Budget {
    /// Takes seconds.
    pub(super) const USUAL: Budget = Budget { whole: 300_000_000, improving: 100_000_000 };
}

/// The number of passes without progress after which the search ends.
const PATIENCE: u32 = 64;

/// Offsets in granules, by item.
pub(super) struct Solution {
    pub(super) peak: u64,
    /// The peak of best fit in the order of time.
    pub(super) best_fit: u64,
    pub(super) offsets: Vec<u64>,
    pub(super) method: Method,
}

/// Searches for the best packing of `problem`.
pub(super) fn search(problem: &Problem, budget: Budget) -> Solution {
    let mut search = PackingSearch::begin(problem, budget);
    let mut best = Order::Size.sort(problem);
    for order in Order::ALL {
        if search.is_over() {
            break;
        }
        let sorted = order.sort(problem);
        if search.first_fit(&sorted, Method::FirstFit(order), search.solution.peak).improved {
            best = sorted;
        }
    }
    search.improve(best);
    search.solution
}

struct PackingSearch<'a> {
    problem: &'a Problem,
    budget: Budget,
    tree: TimeTree,
    solution: Solution,
    offsets: Vec<u64>,
}

/// The result of a pass.
#[derive(Clone, Copy, Debug)]
struct PackingPass {
    improved: bool,
    /// The number of buffers placed before the pass ended.
    placed: usize,
}

impl PackingSearch<'_> {
    fn begin(problem: &Problem, budget: Budget) -> PackingSearch<'_> {
        let all: Vec<u32> = (0..).zip(&problem.items).map(|(item, _)| item).collect();
        let mut offsets = vec![0; all.len()];
        let peak = best_fit(problem, &all, 0, &mut offsets);
        let solution = Solution { peak, best_fit: peak, offsets: offsets.clone(), method: Method::BestFit };
        PackingSearch { problem, budget, tree: TimeTree::new(problem.epochs), solution, offsets }
    }

    fn is_over(&self) -> bool {
        self.solution.peak == self.problem.bound || self.tree.work() >= self.budget.whole
    }

    /// One pass of first fit. Ends when the peak reaches `ceiling`, or the budget is spent.
    fn first_fit(&mut self, order: &[u32], method: Method, ceiling: u64) -> PackingPass {
        let only = self.tree.work() == 0;
        self.tree.clear();
        let mut peak = 0;
        for (&index, placed) in order.iter().zip(1..) {
            let item = self.problem.items[index as usize];
            let offset = self.tree.place(item);
            self.offsets[index as usize] = offset;
            peak = peak.max(offset + item.size);
            let spent = self.tree.work() >= self.budget.whole;
            if spent && only {
                self.pack_on_top(&order[placed..], peak);
            }
            if spent || peak >= ceiling {
                return PackingPass { improved: false, placed };
            }
        }
        PackingPass { improved: self.keep(peak, method), placed: order.len() }
    }

    fn keep(&mut self, peak: u64, method: Method) -> bool {
        let better = peak < self.solution.peak;
        if better {
            self.solution.peak = peak;
            self.solution.offsets.copy_from_slice(&self.offsets);
            self.solution.method = method;
        }
        better
    }

    fn pack_on_top(&mut self, rest: &[u32], floor: u64) {
        let mut rest = rest.to_vec();
        rest.sort_unstable();
        let peak = best_fit(self.problem, &rest, floor, &mut self.offsets);
        self.keep(peak, Method::Partial);
    }

    fn improve(&mut self, mut order: Vec<u32>) {
        let from = if let Method::FirstFit(order) = self.solution.method { order } else { Order::Size };
        let (mut passes, mut idle) = (0u32, 0);
        while !self.is_over() && self.tree.work() < self.budget.improving && idle < PATIENCE {
            let known = self.solution.peak;
            let pass = self.first_fit(&order, Method::Improved(from), u64::MAX);
            idle = if pass.improved { 0 } else { idle + 1 };
            if pass.placed < order.len() {
                return;
            }
            let spare = known.min(self.solution.peak) - self.problem.bound;
            let goal = self.problem.bound + spare / 4 * u64::from(passes % 4);
            order = self.raised(&order, goal, passes);
            passes += 1;
        }
    }

    /// Moves the buffers above `goal` forward: to the front, or, in turns of four passes, to half their rank.
    fn raised(&self, order: &[u32], goal: u64, pass: u32) -> Vec<u32> {
        let is_above = |index: u32| self.offsets[index as usize] + self.problem.items[index as usize].size > goal;
        let first_of_all = (pass / 4).is_multiple_of(2);
        // Doubled, so that raised buffers fit between two others.
        let rank = |(rank, &index): (usize, &u32)| match (is_above(index), first_of_all) {
            (false, _) => (2 * rank + 1, index),
            (true, true) => (0, index),
            (true, false) => (rank, index),
        };
        let mut ranked: Vec<(usize, u32)> = order.iter().enumerate().map(rank).collect();
        ranked.sort_by_key(|&(rank, _)| rank);
        ranked.into_iter().map(|(_, index)| index).collect()
    }
}

#[cfg(test)]
mod tests {
    use trace::Bytes;

    use super::*;
    use crate::limit::Buffer;

    /// Buffers of many sizes, large ones with long lives, for which best fit in the order of time is bad.
    fn buffers() -> Vec<Buffer> {
        let buffer =
            |i: u32| Buffer { start: i, end: i + 1 + i * 7 % 13, size: Bytes(u64::from(i * i % 97 + 1) * 512) };
        (0..400).map(buffer).collect()
    }

    #[test]
    fn where_the_budget_is_spent_the_small_lie_on_top() {
        let problem = Problem::new(&buffers());
        let solution = search(&problem, Budget { whole: 200, improving: 0 });
        assert!(solution.peak >= problem.bound);
        for (item, at) in problem.items.iter().zip(&solution.offsets) {
            assert!(at + item.size <= solution.peak);
        }
        for (a, b) in pairs(&problem) {
            let (start_a, start_b) = (solution.offsets[a], solution.offsets[b]);
            let (end_a, end_b) = (start_a + problem.items[a].size, start_b + problem.items[b].size);
            assert!(end_a <= start_b || end_b <= start_a, "{a} and {b} overlap");
        }
    }

    /// All pairs of buffers alive together.
    fn pairs(problem: &Problem) -> impl Iterator<Item = (usize, usize)> {
        let items = &problem.items;
        let later = (0..items.len()).flat_map(|a| (a + 1..items.len()).map(move |b| (a, b)));
        later.filter(|&(a, b)| items[a].life.first < items[b].life.end && items[b].life.first < items[a].life.end)
    }
}
