//! Which settings cannot differ on a program.
//!
//! # Note [Same effect]
//! A limit on splitting acts only through comparisons with the sizes of blocks. Without expandable segments a free block is
//! a segment or a part of one; so two limits between which no block and no segment lies decide alike, and one above
//! every segment is none. Where a block is below the limit and its segment is not, parts of any size come up, and nothing
//! is concluded; nor with expandable segments, whose free blocks grow together to any size. What is released on a full device
//! depends on the limit itself, so there one setting may stand for another that differs in retries alone.

use std::hash::{DefaultHasher, Hash, Hasher};

use allocator::{Settings, size};

use super::traces::blocks;

/// The sizes that a program asks for, each once, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Requests(Vec<u64>);

/// What a setting comes to on a program. Settings of equal effect need to be replayed but once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Effect {
    expandable: bool,
    large_segment: Option<u64>,
    /// What becomes of the sizes of each class: 0 where nothing.
    rounding: [u64; 16],
    split: Split,
    non_split_rounding: Option<u64>,
    /// The threshold and the fraction, bit by bit.
    collection: Option<(u64, u64)>,
}

/// Where splitting ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Split {
    /// Nowhere on this program.
    Never,
    /// Above so many of its sizes.
    Above(usize),
    /// Exactly there.
    At(u64),
}

impl Requests {
    /// Of these sizes.
    pub(super) fn new(mut sizes: Vec<u64>) -> Requests {
        sizes.sort_unstable();
        sizes.dedup();
        Requests(sizes)
    }

    /// The sizes of their blocks, each once, in order.
    pub(super) fn blocks(&self, settings: &Settings) -> Vec<u64> {
        blocks(&self.0, settings)
    }

    /// What `settings` come to.
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

    /// The sizes that `roundup_power2_divisions` has entry `index` for.
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
    // Segments grow with their blocks, but for those of the middle sizes.
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
            // A limit above the largest segment is none.
            (&small, "", "max_split_size_mb:101", true),
            (&small, "", "max_split_size_mb:100", false),
            // Between two sizes every limit is the same.
            (&small, "max_split_size_mb:40", "max_split_size_mb:99", true),
            (&small, "max_split_size_mb:30", "max_split_size_mb:31", false),
            // 29.5 MiB lie in a segment of 30: parts of it may be on either side.
            (&[59 * MIB / 2], "max_split_size_mb:30", "max_split_size_mb:31", false),
            // Expandable segments grow: nothing is concluded.
            (&small, "expandable_segments:True", "expandable_segments:True,max_split_size_mb:101", false),
            // The rounding of what is not split needs something that is not split.
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
            // Nothing is collected unless something limits.
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

    /// What a program comes to: sizes of requests, each with the place of an older one to free beside it.
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
                        // Counted by the limit itself; nothing is decided by them.
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
