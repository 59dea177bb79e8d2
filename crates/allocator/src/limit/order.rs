//! Orders in which buffers are placed.

use std::cmp::Reverse;

use super::problem::{Item, Problem};

/// The rank of a buffer in first fit. In every order, large buffers and buffers alive at high load come early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By size to a power of two; among about equal sizes, longest-lived first.
    Size,
    /// Buffers alive at the peak first; then as [`Order::Size`].
    Peak,
    /// By the highest load during the buffer's life; then by size.
    Load,
    /// By size to a power of four, then by time.
    Time,
    /// By size to a power of four; among about equal sizes, longest-lived first, to a power of two.
    Life,
}

impl Order {
    /// All orders, most successful first: the first alone settles most traces.
    pub(super) const ALL: [Order; 5] = [Order::Size, Order::Peak, Order::Load, Order::Time, Order::Life];

    /// Sorts the items; equal items by their beginning.
    pub(super) fn sort(self, problem: &Problem) -> Vec<u32> {
        let mut order: Vec<u32> = (0..).zip(&problem.items).map(|(item, _)| item).collect();
        let item = |index: u32| &problem.items[index as usize];
        match self {
            Order::Size => order.sort_by_cached_key(|&i| Reverse((doublings(item(i)), length(item(i), 1)))),
            Order::Time => order.sort_by_cached_key(|&i| Reverse(doublings(item(i)) / 2)),
            Order::Life => order.sort_by_cached_key(|&i| Reverse((doublings(item(i)) / 2, length(item(i), 0)))),
            Order::Peak => {
                let peak = peak_epoch(problem);
                let key = |item: &Item| (item.life.contains(peak), doublings(item), length(item, 31));
                order.sort_by_cached_key(|&i| Reverse(key(item(i))));
            }
            Order::Load => {
                let loads = Maxima::of(problem.loads());
                let key = |item: &Item| (loads.within(item), item.size, item.life.length());
                order.sort_by_cached_key(|&i| Reverse(key(item(i))));
            }
        }
        order
    }
}

fn doublings(item: &Item) -> u32 {
    item.size.ilog2()
}

/// The length of a life as a floating-point number: exponent and the first `bits` of the fraction. Lives of about equal
/// length are then placed in the order of time, which uses the processor's caches better.
fn length(item: &Item, bits: u32) -> (u32, u32) {
    let length = item.life.length();
    let exponent = length.ilog2();
    (exponent, length >> exponent.saturating_sub(bits))
}

fn peak_epoch(problem: &Problem) -> u32 {
    let loads = problem.loads();
    (0..).zip(loads).find(|&(_, load)| load == problem.bound).map_or(0, |(epoch, _)| epoch)
}

/// The maximum of any range in constant time: level k has the maximum of 2ᵏ values from each index on.
struct Maxima(Vec<Vec<u64>>);

impl Maxima {
    fn of(numbers: Vec<u64>) -> Maxima {
        let mut levels = vec![numbers];
        for width in (0..32).map(|k| 1usize << k) {
            let Some(last) = levels.last().filter(|last| last.len() > width) else { break };
            let next = last.iter().zip(&last[width..]).map(|(a, b)| *a.max(b)).collect();
            levels.push(next);
        }
        Maxima(levels)
    }

    fn within(&self, item: &Item) -> u64 {
        let level = item.life.length().ilog2();
        let largest = &self.0[level as usize];
        largest[item.life.first as usize].max(largest[(item.life.end - (1 << level)) as usize])
    }
}
