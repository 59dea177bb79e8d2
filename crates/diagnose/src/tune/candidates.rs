//! Candidate values for a program's settings.

use allocator::Settings;

use super::conf::{Collection, Conf, Roundup};
use super::effect::Requests;

const MIB: u64 = 1 << 20;

/// Popular values of `max_split_size_mb`.
const GUIDED_SPLITS: [u64; 9] = [20, 21, 32, 64, 128, 256, 512, 1024, 2048];
/// Values of `large_segment_size_mb`: multiples of the 2 MiB page.
const LARGE_SEGMENTS: [u64; 9] = [12, 16, 24, 32, 40, 64, 100, 128, 200];
/// Values of `max_non_split_rounding_mb`.
const NON_SPLIT_ROUNDINGS: [u64; 8] = [20, 21, 32, 64, 128, 256, 512, 1024];
/// Values of `roundup_power2_divisions` for all sizes.
const DIVISIONS: [u64; 6] = [2, 4, 8, 16, 32, 64];
/// Values of `roundup_power2_divisions` for a single size class.
const CLASS_DIVISIONS: [u64; 3] = [2, 4, 8];
/// The first round derives at most this many limits from the program's sizes.
const COARSE: usize = 24;

/// Returns the split limits that change the effect on these blocks, in MiB: at and right above each size.
pub(super) fn critical_splits(blocks: &[u64], least: u64) -> Vec<u64> {
    let mut limits: Vec<u64> =
        blocks.iter().flat_map(|block| [block / MIB, block / MIB + 1, block / MIB + 3]).collect();
    limits.retain(|&limit| limit >= least);
    limits.sort_unstable();
    limits.dedup();
    limits
}

/// Returns the first round's split limits: the guides' values, and some critical values.
pub(super) fn coarse_splits(critical: &[u64], least: u64) -> Vec<u64> {
    let guided = GUIDED_SPLITS.into_iter().filter(|&limit| limit >= least);
    let mut limits: Vec<u64> = guided.chain(spread(critical, COARSE)).collect();
    limits.sort_unstable();
    limits.dedup();
    limits
}

/// Returns the critical limits between the tried neighbours of `around`.
pub(super) fn fine_splits(critical: &[u64], tried: &[u64], around: u64) -> Vec<u64> {
    let below = tried.iter().copied().filter(|&limit| limit < around).max().unwrap_or(0);
    let above = tried.iter().copied().filter(|&limit| limit > around).min().unwrap_or(u64::MAX);
    let between: Vec<u64> = critical.iter().copied().filter(|&limit| limit > below && limit < above).collect();
    spread(&between, COARSE / 2)
}

/// Returns up to `most` of `values`, evenly spread, including both ends.
pub(super) fn spread(values: &[u64], most: usize) -> Vec<u64> {
    if values.len() <= most || most < 2 {
        return values.to_vec();
    }
    (0..most).map(|index| values[index * (values.len() - 1) / (most - 1)]).collect()
}

/// Returns `base` with each split limit.
pub(super) fn with_splits(base: &Conf, limits: &[u64]) -> Vec<Conf> {
    limits.iter().map(|&limit| Conf { max_split_mb: Some(limit), ..base.clone() }).collect()
}

/// Returns `base` with each number of divisions for all sizes.
pub(super) fn with_divisions(base: &Conf) -> Vec<Conf> {
    DIVISIONS.into_iter().map(|divisions| Conf { roundup: Some(Roundup::All(divisions)), ..base.clone() }).collect()
}

/// Returns `base` with each size of large segments.
pub(super) fn with_large_segments(base: &Conf) -> Vec<Conf> {
    LARGE_SEGMENTS.into_iter().map(|mib| Conf { large_segment_mb: Some(mib), ..base.clone() }).collect()
}

/// Returns `base`, which has a split limit, with each rounding of unsplit blocks.
pub(super) fn with_non_split_roundings(base: &Conf) -> Vec<Conf> {
    NON_SPLIT_ROUNDINGS.into_iter().map(|mib| Conf { non_split_rounding_mb: Some(mib), ..base.clone() }).collect()
}

/// Returns `base` with divisions for a single size class, for each class of the program.
pub(super) fn with_class_divisions(base: &Conf, requests: &Requests) -> Vec<Conf> {
    let classes = (0..16).filter(|&index| !requests.of_class(index).is_empty());
    classes.flat_map(|index| CLASS_DIVISIONS.map(|divisions| with_class(base, index, divisions))).collect()
}

/// Returns `base` with `divisions` for a further class.
pub(super) fn with_class(base: &Conf, index: usize, divisions: u64) -> Conf {
    let mut all = each(base);
    all[index] = divisions;
    Conf { roundup: Some(Roundup::Each(all)), ..base.clone() }
}

/// Returns the divisions of each class.
pub(super) fn each(conf: &Conf) -> [u64; 16] {
    match conf.roundup {
        None => [0; 16],
        Some(Roundup::All(divisions)) => [divisions; 16],
        Some(Roundup::Each(divisions)) => divisions,
    }
}

/// Returns `base` with fractions of a device of `total` bytes between the limit and `base`'s reserved bytes.
pub(super) fn with_collection(base: &Conf, total: u64, limit: u64, reserved: u64) -> Vec<Conf> {
    let percent = |bytes: u64| u8::try_from(bytes.saturating_mul(100).div_ceil(total.max(1)).min(99)).unwrap_or(99);
    let targets =
        [limit, limit + (reserved.saturating_sub(limit)) / 4, limit.midpoint(reserved), reserved / 10 * 9, reserved];
    let mut fractions: Vec<u8> = targets.into_iter().map(percent).filter(|&percent| percent > 0).collect();
    fractions.sort_unstable();
    fractions.dedup();
    let collections =
        fractions.into_iter().flat_map(|fraction| [60, 80, 95].map(|threshold| Collection { threshold, fraction }));
    collections.map(|collection| Conf { collection: Some(collection), ..base.clone() }).collect()
}

/// Returns every combination of a value in `firsts` and a value of another key in `seconds`; `merge` copies the second
/// value into the first combination.
pub(super) fn cross(firsts: &[Conf], seconds: &[Conf], merge: impl Fn(&Conf, &Conf) -> Conf) -> Vec<Conf> {
    firsts.iter().flat_map(|first| seconds.iter().map(|second| merge(first, second)).collect::<Vec<_>>()).collect()
}

/// Returns the settings with plain rounding, without divisions and split limits.
pub(super) fn plain() -> Settings {
    Settings::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_derived_from_sizes() {
        let cases: [(&[u64], u64, &[u64]); 4] = [
            (&[], 20, &[]),
            (&[512, 30 * MIB], 20, &[30, 31, 33]),
            (&[30 * MIB - 512], 20, &[29, 30, 32]),
            (&[18 * MIB, 30 * MIB], 21, &[21, 30, 31, 33]),
        ];
        for (blocks, least, expected) in cases {
            assert_eq!(critical_splits(blocks, least), expected, "{blocks:?} from {least}");
        }
    }

    #[test]
    fn finer_values_lie_between_those_tried() {
        let critical: Vec<u64> = (20..100).collect();
        let cases: [(&[u64], u64, &[u64]); 3] = [
            (&[30, 40, 44], 40, &[31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 43]),
            (&[96, 98], 98, &[97, 98, 99]),
            (&[98], 98, &[20, 27, 34, 41, 48, 55, 63, 70, 77, 84, 91, 99]),
        ];
        for (tried, around, expected) in cases {
            assert_eq!(fine_splits(&critical, tried, around), expected, "{tried:?} around {around}");
        }
    }

    #[test]
    fn a_spread_has_both_ends() {
        let values: Vec<u64> = (0..=10).collect();
        assert_eq!(spread(&values, 3), [0, 5, 10]);
        assert_eq!(spread(&values, 20), values);
        assert!(spread(&[], 3).is_empty());
    }

    #[test]
    fn fractions_lie_between_the_need_and_what_is_reserved() {
        let found = with_collection(&Conf::default(), 1000, 100, 500);
        let fractions: Vec<u8> = found.iter().filter_map(|conf| Some(conf.collection?.fraction)).collect();
        assert_eq!(fractions, [10, 10, 10, 20, 20, 20, 30, 30, 30, 45, 45, 45, 50, 50, 50]);
    }
}
