//! Settings with equal effect on a program.
//!
//! # Note [Same effect]
//! A split limit acts only through comparisons with block sizes. Without expandable segments a free block is a segment
//! or a part of a segment. Two limits without a block or segment size between them therefore decide alike, and a limit
//! above every segment has no effect. If a block is below the limit and its segment above, parts of any size occur,
//! and no conclusion is drawn. The same holds for expandable segments, whose free blocks merge to any size. On a full
//! device the released segments depend on the limit itself, so a setting may stand for another setting with different
//! retries.

use std::hash::{DefaultHasher, Hash, Hasher};

use allocator::{Settings, size};

use super::traces::blocks;

/// The program's request sizes, each once, in ascending order.
#[derive(Clone, Debug, Default)]
pub(super) struct Requests(Vec<u64>);

/// The effect of a setting on a program. Among settings of equal effect only one is replayed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Effect {
    expandable: bool,
    large_segment: Option<u64>,
    /// The rounding of each size class; 0 without an effect.
    rounding: [u64; 16],
    split: Split,
    non_split_rounding: Option<u64>,
    /// The bits of the threshold and of the fraction.
    collection: Option<(u64, u64)>,
}

/// The block size above which the allocator never splits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Split {
    /// No block of this program is exempt from splitting.
    Never,
    /// The limit lies above this many of the program's sizes.
    Above(usize),
    /// The limit itself decides.
    At(u64),
}

impl Requests {
    /// Builds the list from `sizes`.
    pub(super) fn new(mut sizes: Vec<u64>) -> Requests {
        sizes.sort_unstable();
        sizes.dedup();
        Requests(sizes)
    }

    /// Returns the block sizes, each once, in ascending order.
    pub(super) fn blocks(&self, settings: &Settings) -> Vec<u64> {
        blocks(&self.0, settings)
    }

    /// Returns the effect of `settings`.
    pub(super) fn effect(&self, settings: &Settings) -> Effect {
        let blocks = self.blocks(settings);
        let split = split(&blocks, settings);
        let is_oversize = |limit: u64| blocks.last().is_some_and(|&largest| largest >= limit);
        let slack = settings.max_split_size.filter(|limit| split != Split::Never && is_oversize(limit.0));
        let has_middle = blocks.iter().any(|block| (size::SMALL_BYTES + 1..size::MIN_LARGE_BYTES).contains(block));
        let (threshold, fraction) = (settings.garbage_collection_threshold, settings.per_process_memory_fraction);
        Effect {
            expandable: settings.expandable_segments,
            large_segment: (settings.expandable_segments || has_middle).then_some(settings.large_segment_size.0),
            rounding: self.rounding(settings),
            split,
            non_split_rounding: slack.map(|_| settings.max_non_split_rounding.0),
            collection: (fraction < 1.0).then(|| (threshold.to_bits(), fraction.to_bits())),
        }
    }

    /// Returns the sizes of entry `index` of `roundup_power2_divisions`.
    pub(super) fn of_class(&self, index: usize) -> &[u64] {
        let start = if index == 0 { 0 } else { 1 << (20 + index) };
        let from = self.0.partition_point(|&size| size < start);
        let to = if index >= 15 { self.0.len() } else { self.0.partition_point(|&size| size < 1 << (21 + index)) };
        &self.0[from..to]
    }

    fn rounding(&self, settings: &Settings) -> [u64; 16] {
        let plain = Settings::default();
        std::array::from_fn(|index| {
            let sizes = self.of_class(index);
            let rounded = || sizes.iter().map(|&request| size::block_bytes(request, settings));
            if sizes.iter().map(|&request| size::block_bytes(request, &plain)).eq(rounded()) {
                return 0;
            }
            let mut hasher = DefaultHasher::new();
            rounded().for_each(|block| block.hash(&mut hasher));
            hasher.finish().max(1)
        })
    }
}

fn split(blocks: &[u64], settings: &Settings) -> Split {
    let Some(limit) = settings.max_split_size.map(|limit| limit.0) else { return Split::Never };
    if settings.expandable_segments {
        return Split::At(limit);
    }
    let segment = |block: u64| size::segment_bytes(block, settings);
    if blocks.iter().all(|&block| segment(block) < limit) {
        return Split::Never;
    }
    let below = blocks.partition_point(|&block| block < limit);
    // Segments grow with their blocks, except for segments of the middle sizes.
    if blocks[..below].iter().any(|&block| segment(block) >= limit) { Split::At(limit) } else { Split::Above(below) }
}

#[cfg(test)]
mod tests {
    use allocator::{Allocator, Rules, SimulatedDevice, Stats};
    use proptest::prelude::*;
    use trace::{Bytes, Release, Stream};

    use super::*;

    const MIB: u64 = 1 << 20;

    fn effect(requests: &[u64], text: &str) -> Effect {
        let settings = Settings::parse(text, Release { major: 2, minor: 13 }).unwrap_or_else(|error| panic!("{error}"));
        Requests::new(requests.to_owned()).effect(&settings)
    }

    #[test]
    fn settings_that_cannot_differ_are_one() {
        let small = [600, 30 * MIB, 100 * MIB];
        let middle = [5 * MIB, 30 * MIB];
        let cases: [(&[u64], &str, &str, bool); 16] = [
            // A limit above the largest segment has no effect.
            (&small, "", "max_split_size_mb:101", true),
            (&small, "", "max_split_size_mb:100", false),
            // All limits between two sizes are equal.
            (&small, "max_split_size_mb:40", "max_split_size_mb:99", true),
            (&small, "max_split_size_mb:30", "max_split_size_mb:31", false),
            // 29.5 MiB lie in a segment of 30 MiB: its parts may be on either side of the limit.
            (&[59 * MIB / 2], "max_split_size_mb:30", "max_split_size_mb:31", false),
            // Expandable segments grow: no conclusion.
            (&small, "expandable_segments:True", "expandable_segments:True,max_split_size_mb:101", false),
            // The rounding of unsplit blocks needs a split limit.
            (&small, "max_non_split_rounding_mb:64", "", true),
            (&small, "max_split_size_mb:40,max_non_split_rounding_mb:64", "max_split_size_mb:40", false),
            (&small, "max_split_size_mb:101,max_non_split_rounding_mb:64", "", true),
            // Large segments serve the middle sizes, and are the pages of expandable ones.
            (&small, "large_segment_size_mb:40", "", true),
            (&middle, "large_segment_size_mb:40", "", false),
            (&small, "expandable_segments:True,large_segment_size_mb:40", "expandable_segments:True", false),
            // Powers of two stay as they are, whatever the divisions.
            (&[MIB, 4 * MIB], "roundup_power2_divisions:4", "", true),
            (&[5 * MIB], "roundup_power2_divisions:4", "roundup_power2_divisions:8", true),
            (&[5 * MIB], "roundup_power2_divisions:2", "roundup_power2_divisions:4", false),
            // Garbage collection needs a memory limit.
            (&small, "garbage_collection_threshold:0.8", "", true),
        ];
        for (requests, one, other, same) in cases {
            assert_eq!(effect(requests, one) == effect(requests, other), same, "{requests:?}: `{one}` and `{other}`");
        }
    }

    const TEXTS: [&str; 14] = [
        "",
        "max_split_size_mb:20",
        "max_split_size_mb:22",
        "max_split_size_mb:25",
        "max_split_size_mb:31",
        "max_split_size_mb:40",
        "max_split_size_mb:64",
        "max_split_size_mb:25,max_non_split_rounding_mb:64",
        "max_split_size_mb:64,max_non_split_rounding_mb:128",
        "large_segment_size_mb:24",
        "large_segment_size_mb:24,max_split_size_mb:31",
        "roundup_power2_divisions:2",
        "roundup_power2_divisions:4",
        "roundup_power2_divisions:[1:4]",
    ];

    /// Replays a program: request sizes, each with the index of an older request to free.
    fn stats(program: &[(u64, usize)], text: &str) -> Stats {
        let release = Release { major: 2, minor: 13 };
        let settings = Settings::parse(text, release).unwrap_or_else(|error| panic!("{error}"));
        let mut machine = Allocator::new(Rules::of(release), settings, SimulatedDevice::new(1 << 42, 0), ());
        let mut live = Vec::new();
        for &(size, freed) in program {
            live.extend(machine.malloc(Bytes(size), Stream::default()));
            if freed < live.len() {
                machine.free(live.swap_remove(freed));
            }
        }
        *machine.stats()
    }

    proptest! {
        #[test]
        fn settings_of_equal_effect_come_to_the_same(
            sizes in prop::collection::vec(1..80 * 2 * MIB, 1..6),
            choices in prop::collection::vec((any::<prop::sample::Index>(), 0usize..6), 1..60),
        ) {
            let program: Vec<(u64, usize)> = choices.iter().map(|(index, freed)| (*index.get(&sizes) / 2 + 1, *freed)).collect();
            let requests: Vec<u64> = program.iter().map(|&(size, _)| size).collect();
            for (index, one) in TEXTS.iter().enumerate() {
                for other in &TEXTS[..index] {
                    if effect(&requests, one) == effect(&requests, other) {
                        let (mut one, mut other) = (stats(&program, one), stats(&program, other));
                        // The limit itself changes these counters; no decision depends on them.
                        for stats in [&mut one, &mut other] {
                            (stats.oversize_allocations, stats.oversize_segments) = Default::default();
                        }
                        prop_assert_eq!(one, other);
                    }
                }
            }
        }
    }

    #[test]
    fn every_size_is_of_one_class() {
        let requests = Requests::new(vec![1, 600, 2 * MIB - 1, 2 * MIB, 5 * MIB, 1 << 34, 1 << 36, 1 << 40]);
        let counts: Vec<usize> = (0..16).map(|index| requests.of_class(index).len()).collect();
        assert_eq!(counts, [3, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2]);
    }
}
