//! Requests that get larger with every step, as a matrix over all states so far does, and sizes to come by the curve of those seen.
//!
//! # Note [Rising requests]
//! The peak of a step may lie elsewhere for thousands of steps while one line asks for more in each. Such a line is recognised by its curve: the
//! largest requests of all steps lie on a line or a parabola, which batches of random length never do.

use std::collections::BTreeMap;

use report::Location;
use trace::{Bytes, StackId};

use super::life::Life;
use super::view::View;

/// The least number of steps that show a curve.
const LEAST_STEPS: usize = 3;
/// With fewer steps, the first counts, too, and each step must rise.
const FEW_STEPS: usize = 6;
/// The most by which a size may lie off its curve: a part of the rise, and two of PyTorch's blocks of 512 B.
const OFF_DENOMINATOR: f64 = 50.0;
const OFF_BYTES: f64 = 1024.0;

/// The largest requests of a line, one for each step; of many steps, without the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RisingRequests {
    /// The user's line.
    pub(crate) location: Option<Location>,
    /// The sizes, in the order of the steps.
    pub(crate) sizes: Vec<Bytes>,
}

/// Lists the stacks with a request in every step, of many steps in every one after the first, whose sizes rise on a curve.
pub(crate) fn list_rising_requests(view: &View) -> Vec<RisingRequests> {
    let mut stacks: BTreeMap<StackId, BTreeMap<u32, Bytes>> = BTreeMap::new();
    let Some(last) = view.trace.process.steps.last().map(|step| step.step) else { return Vec::new() };
    let first = if usize::try_from(last).is_ok_and(|last| last < FEW_STEPS) { 1 } else { 2 };
    for life in view.trace.history.lifetimes() {
        if let Some(step) = view.step_of(life).filter(|step| (first..=last).contains(step)) {
            let largest = stacks.entry(life.stack).or_default().entry(step).or_default();
            *largest = (*largest).max(life.block());
        }
    }
    let in_every_step = usize::try_from(last + 1 - first).unwrap_or(usize::MAX);
    let whole = stacks.into_iter().filter(|(_, sizes)| sizes.len() == in_every_step);
    let rising = whole.map(|(stack, sizes)| (stack, sizes.into_values().collect::<Vec<_>>()));
    rising
        .filter(|(_, sizes)| Curve::through(sizes).is_some())
        .map(|(stack, sizes)| RisingRequests { location: view.own_line(stack), sizes })
        .collect()
}

/// Returns the size after `more` steps of sizes on a curve; `None` for sizes that lie on none, or do not rise.
pub(crate) fn foresee(sizes: &[Bytes], more: u64) -> Option<Bytes> {
    let curve = Curve::through(sizes)?;
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let at = (sizes.len() - 1) as f64 + more as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a size is positive, and `as` saturates"
    )]
    let bytes = curve.at(at) as u64;
    Some(Bytes(bytes))
}

/// A parabola `a x² + b x + c`; `a` is not below zero.
struct Curve {
    a: f64,
    b: f64,
    c: f64,
}

impl Curve {
    /// The curve through the first, the middle and the last size, if the others lie on it and it rises. What rises less and less gets the line
    /// through its later half.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn through(sizes: &[Bytes]) -> Option<Curve> {
        let (first, last) = (sizes.first()?, sizes.last()?);
        let is_even = |pair: &[Bytes]| pair[0] < pair[1] || (pair[0] == pair[1] && sizes.len() >= FEW_STEPS);
        if sizes.len() < LEAST_STEPS || first >= last || !sizes.windows(2).all(is_even) {
            return None;
        }
        let middle = sizes.len() / 2;
        let (x1, x2) = (middle as f64, (sizes.len() - 1) as f64);
        let (y0, y1, y2) = (first.0 as f64, sizes[middle].0 as f64, last.0 as f64);
        let a = ((y2 - y0) / x2 - (y1 - y0) / x1) / (x2 - x1);
        let curve = Curve { a, b: (y1 - y0) / x1 - a * x1, c: y0 };
        let most_off = (y2 - y0) / OFF_DENOMINATOR + OFF_BYTES;
        let is_on = |(x, size): (usize, &Bytes)| (curve.at(x as f64) - size.0 as f64).abs() <= most_off;
        let all_on = sizes.iter().enumerate().all(is_on) && y2 - y0 > OFF_BYTES;
        let late = (y2 - y1) / (x2 - x1);
        let straight = Curve { a: 0.0, b: late, c: y2 - late * x2 };
        all_on.then_some(if a < 0.0 { straight } else { curve })
    }

    fn at(&self, x: f64) -> f64 {
        (self.a * x + self.b) * x + self.c
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn foreseen(size: impl Fn(u64) -> u64, steps: u64, more: u64) -> Option<u64> {
        let sizes: Vec<Bytes> = (1..=steps).map(|step| Bytes(size(step))).collect();
        foresee(&sizes, more).map(|bytes| bytes.0)
    }

    #[test]
    fn sizes_on_a_curve_are_foreseen() {
        let rounded = |bytes: u64| bytes.next_multiple_of(512);
        // 1 KiB a step; (32 step)² floats; the sum of 1, 2, 3 … KiB.
        assert_eq!(foreseen(|step| step << 10, 50, 50), Some(100 << 10));
        assert_eq!(foreseen(|step| (32 * step).pow(2) * 4, 50, 950), Some(4096 * 1_000_000));
        assert_eq!(foreseen(|step| (32 * step).pow(2) * 4, 3, 997), Some(4096 * 1_000_000));
        assert_eq!(foreseen(|step| step * (step + 1) * 512, 10, 90), Some(100 * 101 * 512));
        let blocks = foreseen(|step| rounded(300 * step), 40, 60);
        assert!(blocks.is_some_and(|bytes| bytes.abs_diff(30_000) < 3_000), "{blocks:?}");
    }

    #[test]
    fn other_sizes_are_not() {
        let lengths = [4, 9, 2, 7, 8, 3, 9, 12, 1, 13].map(|kib: u64| kib << 20);
        let pick = |step: u64| lengths[usize::try_from(step - 1).unwrap_or_default() % 10];
        assert_eq!(foreseen(pick, 10, 100), None);
        assert_eq!(foreseen(|_| 1 << 20, 10, 100), None);
        assert_eq!(foreseen(|step| step << 20, 2, 100), None);
        assert_eq!(foreseen(|step| [1, 1, 2][usize::try_from(step - 1).unwrap_or_default()] << 20, 3, 100), None);
        // A step up that happens once, and noise of a block.
        assert_eq!(foreseen(|step| if step > 6 { 8 << 20 } else { 1 << 20 }, 12, 100), None);
        assert_eq!(foreseen(|step| 512 * (1 + step / 6), 10, 100), None);
    }
}
