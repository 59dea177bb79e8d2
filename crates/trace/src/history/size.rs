//! The size of the block for a request.

// Note [Block sizes]
// ~~~~~~~~~~~~~~~~~~
// A trace states requested sizes; memory is counted in blocks. A request is first rounded up, then served from the free
// block that starts at its address. The rest of that free block is split off only if it is worth keeping; otherwise the
// request gets all of it. Free neighbours are always merged, so that the free block reached to the next active block or
// to the end of the segment, and the block's size follows from the trace alone.
//
// | the block lies in | the rest is split off if it is | so its size is |
// |---|---|---|
// | a small segment (rounded request of at most 1 MiB) | at least 512 B | the rounded request |
// | an expandable segment | at least 512 B | the rounded request |
// | a large segment | more than 1 MiB | up to 1 MiB more than the rounded request |
// | a large segment, rounded request of at least `max_split_size` | never | its segment |
//
// While expandable segments are on, their rule also holds in large segments that were reserved before. Rounded sizes
// are multiples of 512 B, so "at least 512 B" is exact. `roundup_power2_divisions` rounds further; a request of at most
// 1 MiB stays at most 1 MiB. The rules are the same from 2.0 to 2.15. Versions differ in how the configuration string
// becomes divisions (up to 2.9 `>` overwrites the pair before it); `allocator_settings` states the result. 2.0 to 2.2
// do not write it, and 512 B are assumed. Up to 1.13, `roundup_power2_divisions:1` did not round at all.
//
// Pools with `no_split` are recognised in the dump (`unsplit.rs`). Not modelled: such pools deleted before the dump,
// and other settings that changed during the history. If such a block is in the dump, its size is taken from there.
// Source: `c10/cuda/CUDACachingAllocator.cpp` (`round_size`, `should_split`), PyTorch 2.0 to 2.15.

use crate::bytes::Bytes;
use crate::snapshot::{SegmentKind, SnapshotSettings};

/// The unit of block sizes.
const SMALLEST_BLOCK: u64 = 512;
/// The largest rounded request from a small segment.
pub(super) const LARGEST_SMALL: u64 = 1 << 20;
/// The largest rest that stays in a block of a large segment.
pub(super) const LARGEST_SLACK: u64 = 1 << 20;
/// `roundup_power2_divisions` has one entry for each power of two from 1 MiB to 32 GiB.
const INTERVALS: usize = 16;

/// The rules from requests to blocks, for one configuration.
#[derive(Clone, Debug, Default)]
pub(super) struct SizeRules {
    divisions: [u64; INTERVALS],
    max_split: Option<u64>,
}

impl SizeRules {
    pub(super) fn new(settings: &SnapshotSettings) -> SizeRules {
        let mut divisions = [0; INTERVALS];
        for &(boundary_mib, n) in &settings.roundup_power2_divisions {
            divisions[interval(boundary_mib.saturating_mul(1 << 20))] = n;
        }
        SizeRules { divisions, max_split: settings.max_split_size.map(|size| size.0) }
    }

    /// Tests that a block for this rounded request is never split, and gets its whole segment.
    pub(super) fn is_oversize(&self, rounded: Bytes) -> bool {
        self.max_split.is_some_and(|limit| rounded.0 >= limit)
    }

    /// The rounded size of a request.
    pub(super) fn rounded(&self, requested: Bytes) -> Bytes {
        let n = requested.0;
        if n < SMALLEST_BLOCK {
            return Bytes(SMALLEST_BLOCK);
        }
        let divisions = self.divisions[interval(n)];
        if divisions > 1 && n > SMALLEST_BLOCK.saturating_mul(divisions) {
            return Bytes(round_to_division(n, divisions));
        }
        Bytes(round_up(n, SMALLEST_BLOCK))
    }
}

/// The size class that serves a rounded request.
pub(super) fn kind(rounded: Bytes) -> SegmentKind {
    if rounded.0 <= LARGEST_SMALL { SegmentKind::Small } else { SegmentKind::Large }
}

/// Interval `i` covers sizes from 2^(20+i) to 2^(21+i); the first and the last take what lies outside.
fn interval(size: u64) -> usize {
    let log2 = size.checked_ilog2().unwrap_or(0);
    (log2.saturating_sub(20) as usize).min(INTERVALS - 1)
}

/// Rounds up to the next of the `divisions` equal steps between two powers of two.
fn round_to_division(n: u64, divisions: u64) -> u64 {
    let below = 1 << n.ilog2();
    match below / divisions {
        _ if n == below => n,
        0 => below.saturating_mul(2),
        step => round_up(n, step),
    }
}

fn round_up(n: u64, step: u64) -> u64 {
    n.checked_next_multiple_of(step).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(divisions: &[(u64, u64)]) -> SizeRules {
        SizeRules::new(&SnapshotSettings {
            roundup_power2_divisions: divisions.to_vec(),
            ..SnapshotSettings::default()
        })
    }

    #[test]
    fn requests_are_rounded_to_512_bytes_or_to_a_share_of_a_power_of_two() {
        let plain = rules(&[]);
        let quarters = rules(&[(1, 4), (2, 4)]);
        let cases = [
            (&plain, 0, 512),
            (&plain, 1, 512),
            (&plain, 513, 1024),
            (&plain, 1 << 20, 1 << 20),
            (&plain, u64::MAX, u64::MAX),
            (&quarters, 2048, 2048),               // not above 512 bytes a division
            (&quarters, 2049, 2560),               // steps of 2048 / 4
            (&quarters, (1 << 20) + 1, 1_310_720), // steps of 256 KiB
            (&quarters, 3 << 20, 3 << 20),         // on a step
            (&quarters, (4 << 20) + 1, 4_194_816), // no entry for this interval
        ];
        for (rules, requested, expected) in cases {
            assert_eq!(rules.rounded(Bytes(requested)), Bytes(expected), "{requested} B");
        }
    }
}
