//! How large a block the allocator hands out for a request.

// Note [Block sizes]
// ~~~~~~~~~~~~~~~~~~
// A trace states what was requested; memory is accounted in blocks. A request is first rounded up, then served from
// the free block that starts at the address it got. The rest of that free block is cut off only where it is worth
// keeping; otherwise the request gets all of it. Free neighbours are always merged, so that free block reached to the
// next active block or to the end of the segment, and the block's size follows from the trace alone.
// Source: `c10/cuda/CUDACachingAllocator.cpp` (`round_size`, `should_split`), PyTorch 2.0 to 2.15.

use crate::bytes::Bytes;
use crate::snapshot::{SegmentKind, Settings};

/// Every block is a multiple of this.
const SMALLEST_BLOCK: u64 = 512;
/// Rounded requests up to this come from small segments.
const LARGEST_SMALL: u64 = 1 << 20;
/// A rest of at most this many bytes is not cut off a block of a large segment.
const LARGEST_SLACK: u64 = 1 << 20;
/// `roundup_power2_divisions` has one entry for each power of two from 1 MiB to 32 GiB.
const INTERVALS: usize = 16;

/// The rules that turn a request into a block, for one configuration.
#[derive(Clone, Debug)]
pub(super) struct SizeRules {
    divisions: [u64; INTERVALS],
    max_split: u64,
    expandable: bool,
}

impl SizeRules {
    pub(super) fn new(settings: &Settings) -> SizeRules {
        let mut divisions = [0; INTERVALS];
        for &(boundary_mib, n) in &settings.roundup_power2_divisions {
            divisions[interval(boundary_mib.saturating_mul(1 << 20))] = n;
        }
        let max_split = settings.max_split_size.map_or(u64::MAX, |size| size.0);
        SizeRules { divisions, max_split, expandable: settings.expandable_segments }
    }

    /// A mapped range was seen: the program runs with expandable segments, whatever the settings said.
    pub(super) fn saw_expandable(&mut self) {
        self.expandable = true;
    }

    /// The size a request is rounded up to.
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

    /// The block that a request gets out of a free block of `free` bytes; the free block is at least `requested` long.
    pub(super) fn block(&self, requested: Bytes, free: Bytes) -> Bytes {
        let rounded = self.rounded(requested);
        if free > rounded && self.splits(rounded, free - rounded) { rounded } else { free }
    }

    fn splits(&self, rounded: Bytes, rest: Bytes) -> bool {
        if self.expandable || kind(rounded) == SegmentKind::Small {
            return rest.0 >= SMALLEST_BLOCK;
        }
        rounded.0 < self.max_split && rest.0 > LARGEST_SLACK
    }
}

/// The size class that serves a rounded request.
fn kind(rounded: Bytes) -> SegmentKind {
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

    fn rules(divisions: &[(u64, u64)], max_split_mib: Option<u64>, expandable: bool) -> SizeRules {
        SizeRules::new(&Settings {
            roundup_power2_divisions: divisions.to_vec(),
            max_split_size: max_split_mib.map(Bytes::from_mib),
            expandable_segments: expandable,
            ..Settings::default()
        })
    }

    #[test]
    fn requests_are_rounded_to_512_bytes_or_to_a_share_of_a_power_of_two() {
        let plain = rules(&[], None, false);
        let quarters = rules(&[(1, 4), (2, 4)], None, false);
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

    #[test]
    fn the_rest_of_a_free_block_is_cut_off_only_where_it_is_worth_keeping() {
        const MIB: u64 = 1 << 20;
        let plain = rules(&[], None, false);
        let capped = rules(&[], Some(8), false);
        let expandable = rules(&[], None, true);
        let cases = [
            (&plain, 1024, 2 * MIB, 1024),
            (&plain, 1024, 1536, 1024),
            (&plain, 1024, 1024, 1024),
            (&plain, 4 * MIB, 5 * MIB, 5 * MIB),
            (&plain, 4 * MIB, 5 * MIB + 512, 4 * MIB),
            (&expandable, 4 * MIB, 4 * MIB + 512, 4 * MIB),
            (&capped, 7 * MIB, 20 * MIB, 7 * MIB),
            (&capped, 8 * MIB, 20 * MIB, 20 * MIB),
        ];
        for (rules, requested, free, expected) in cases {
            assert_eq!(rules.block(Bytes(requested), Bytes(free)), Bytes(expected), "{requested} of {free} B");
        }
    }
}
