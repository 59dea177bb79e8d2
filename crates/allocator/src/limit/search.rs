//! The search for a good order.
//!
//! # Note [Orders suffice]
//! Some order of the buffers makes first fit (each at the lowest place that is free during its life) find a packing as good
//! as any. Take a best packing and its buffers from the lowest to the highest. Each ends up no higher than in that packing:
//! what was placed before it and lives with it lies below it there, and lies no higher now, so its place there is still
//! free. Therefore the search is one for an order.
//!
//! # Note [Search]
//! 1. Best fit in the order of time, as a measure and as what is always there.
//! 2. First fit in each [`Order`]. A pass ends where it gets no better than what is known.
//! 3. The best order is improved: what came to lie above a goal is placed earlier in the next pass (known as "squeaky
//!    wheel"). The goal goes round from the bound upwards in quarters of the way to the best known.
//!
//! It ends when the bound is reached, which proves the packing best; after [`PATIENCE`] passes without progress; or when
//! the [`Budget`] is spent, which is counted in looks at ranges and not in seconds, so that the result is always the same. If the
//! first pass alone uses it up, what is left, which is all small, is packed on top by best fit.

use super::Method;
use super::order::Order;
use super::problem::Problem;
use super::sweep::best_fit;
use super::tree::Tree;

/// What a search may cost, in looks at ranges.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// In all.
    pub(super) whole: u64,
    /// Where it has cost so much, the best order is no longer improved: that seldom gains more than a few per mille.
    pub(super) improving: u64,
}

impl Budget {
    /// Seconds.
    pub(super) const USUAL: Budget = Budget { whole: 300_000_000, improving: 100_000_000 };
}

/// After how many passes without progress the search ends.
const PATIENCE: u32 = 64;

/// Offsets in granules, by item.
pub(super) struct Solution {
    pub(super) peak: u64,
    /// The peak of best fit in the order of time.
    pub(super) best_fit: u64,
    pub(super) offsets: Vec<u64>,
    pub(super) method: Method,
}

/// The best packing of `problem` that the search finds.
pub(super) fn search(problem: &Problem, budget: Budget) -> Solution {
    let mut search = Search::begin(problem, budget);
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

struct Search<'a> {
    problem: &'a Problem,
    budget: Budget,
    tree: Tree,
    solution: Solution,
    offsets: Vec<u64>,
}

/// What came of a pass.
#[derive(Clone, Copy, Debug)]
struct Pass {
    improved: bool,
    /// How many were placed before it ended.
    placed: usize,
}

impl Search<'_> {
    fn begin(problem: &Problem, budget: Budget) -> Search<'_> {
        let all: Vec<u32> = (0..).zip(&problem.items).map(|(item, _)| item).collect();
        let mut offsets = vec![0; all.len()];
        let peak = best_fit(problem, &all, 0, &mut offsets);
        let solution = Solution { peak, best_fit: peak, offsets: offsets.clone(), method: Method::BestFit };
        Search { problem, budget, tree: Tree::new(problem.epochs), solution, offsets }
    }

    fn is_over(&self) -> bool {
        self.solution.peak == self.problem.bound || self.tree.work() >= self.budget.whole
    }

    /// One pass of first fit, which ends where the peak is `ceiling` or more, or the budget spent.
    fn first_fit(&mut self, order: &[u32], method: Method, ceiling: u64) -> Pass {
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
                return Pass { improved: false, placed };
            }
        }
        Pass { improved: self.keep(peak, method), placed: order.len() }
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

    /// The order with those that lie above `goal` earlier: first of all, or, in turns of four passes, at half their rank.
    fn raised(&self, order: &[u32], goal: u64, pass: u32) -> Vec<u32> {
        let is_above = |index: u32| self.offsets[index as usize] + self.problem.items[index as usize].size > goal;
        let first_of_all = (pass / 4).is_multiple_of(2);
        // Doubled, so that there is room between any two.
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

    /// Of many sizes, the large ones alive for long; so made that best fit in the order of time does badly.
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

    /// All that are alive together.
    fn pairs(problem: &Problem) -> impl Iterator<Item = (usize, usize)> {
        let items = &problem.items;
        let later = (0..items.len()).flat_map(|a| (a + 1..items.len()).map(move |b| (a, b)));
        later.filter(|&(a, b)| items[a].life.first < items[b].life.end && items[b].life.first < items[a].life.end)
    }
}
