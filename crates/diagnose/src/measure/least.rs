//! The least memory in which a program succeeds.
//!
//! # Note [Monotonic]
//! The search bisects, which assumes that a program that fits a device fits every larger device. The allocator does
//! not guarantee monotonicity: releases on the way change the placement. A few sizes on either side are therefore
//! tried as well.

use trace::Bytes;

/// The driver reserves whole pages.
const PAGE: u64 = allocator::size::ROUND_LARGE_BYTES;
/// The number of sizes to try on either side.
const PROBES: u64 = 4;

/// The result of the bisection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Least {
    /// The least size with success, in whole pages.
    pub(crate) bytes: Bytes,
    /// A larger size without success, or a smaller size with success.
    pub(crate) contradicted_at: Option<Bytes>,
}

/// Returns the least size in whole pages that satisfies `fits`. No size below `least` fits; the size `enough` should fit.
/// `None` if both `enough` and twice `enough` fail.
pub(crate) fn find_least(least: Bytes, enough: Bytes, fits: impl Fn(Bytes) -> bool) -> Option<Least> {
    let fits = |pages: u64| fits(Bytes(pages * PAGE));
    let enough = enough.0.div_ceil(PAGE).max(1);
    let enough = [enough, enough * 2].into_iter().find(|&pages| fits(pages))?;
    let least = least.0.div_ceil(PAGE).min(enough);
    let (mut failing, mut fitting) = (least.saturating_sub(1), enough);
    while fitting - failing > 1 {
        let middle = failing.midpoint(fitting);
        if fits(middle) { fitting = middle } else { failing = middle }
    }
    let step = |from: u64, to: u64, index: u64| from + (to - from) * index / (PROBES + 1);
    let larger = (1..=PROBES).map(|index| step(fitting, enough, index)).find(|&pages| pages > fitting && !fits(pages));
    let smaller = (1..=PROBES).map(|index| step(least, fitting, index)).find(|&pages| pages < fitting && fits(pages));
    Some(Least { bytes: Bytes(fitting * PAGE), contradicted_at: larger.or(smaller).map(|pages| Bytes(pages * PAGE)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(count: u64) -> Bytes {
        Bytes(count * PAGE)
    }

    #[test]
    fn the_least_size_is_found() {
        for boundary in 10..=200 {
            let found = find_least(pages(10), pages(200), |bytes| bytes >= pages(boundary));
            assert_eq!(found, Some(Least { bytes: pages(boundary), contradicted_at: None }), "{boundary}");
        }
    }

    #[test]
    fn the_bounds_are_taken_in_whole_pages() {
        let exact = find_least(Bytes(PAGE * 3 - 1), Bytes(PAGE * 5 + 1), |bytes| bytes >= pages(6));
        assert_eq!(exact, Some(Least { bytes: pages(6), contradicted_at: None }));
        assert_eq!(find_least(pages(3), pages(3), |_| true), Some(Least { bytes: pages(3), contradicted_at: None }));
    }

    #[test]
    fn what_is_not_enough_is_said() {
        assert_eq!(find_least(pages(1), pages(100), |_| false), None);
        let twice = find_least(pages(1), pages(100), |bytes| bytes >= pages(150));
        assert_eq!(twice, Some(Least { bytes: pages(150), contradicted_at: None }));
    }

    #[test]
    fn a_hole_among_the_sizes_that_fit_is_seen() {
        // Succeeds from 50 pages on, except from 100 to 190.
        let fits = |bytes: Bytes| bytes >= pages(50) && !(pages(100)..=pages(190)).contains(&bytes);
        let found = find_least(pages(10), pages(200), fits).and_then(|found| found.contradicted_at);
        assert!(found.is_some(), "{found:?}");
    }
}
