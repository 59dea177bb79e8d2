//! A combination of settings and its text.

use trace::Release;

/// The settings that the search varies. Sizes are in MiB, as in PyTorch's keys.
///
/// PyTorch's parser reads the text of each combination before the replay: the printed text is the tested setting.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Conf {
    pub(super) expandable: bool,
    pub(super) max_split_mb: Option<u64>,
    pub(super) non_split_rounding_mb: Option<u64>,
    pub(super) large_segment_mb: Option<u64>,
    pub(super) roundup: Option<Roundup>,
    pub(super) collection: Option<Collection>,
}

/// `roundup_power2_divisions`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Roundup {
    /// One number of divisions for all sizes.
    All(u64),
    /// One number of divisions for each power of two in MiB, from 1 to 32768; 0 and 1 round to 512 bytes only.
    Each([u64; 16]),
}

/// `garbage_collection_threshold` and `per_process_memory_fraction`, both in percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Collection {
    pub(super) threshold: u8,
    pub(super) fraction: u8,
}

/// Returns the least `max_split_size_mb` of a version: above 20 up to 2.9, 20 from 2.10 on.
pub(super) fn least_max_split_mb(release: Release) -> u64 {
    if release < (Release { major: 2, minor: 10 }) { 21 } else { 20 }
}

impl Conf {
    /// Returns the value of `PYTORCH_CUDA_ALLOC_CONF`; empty for the defaults.
    pub(super) fn text(&self) -> String {
        let sized = |key: &str, mib: Option<u64>| mib.map(|mib| format!("{key}:{mib}"));
        let roundup = self.roundup.as_ref().map(|roundup| format!("roundup_power2_divisions:{}", roundup.text()));
        let parts = [
            self.expandable.then(|| "expandable_segments:True".to_owned()),
            sized("large_segment_size_mb", self.large_segment_mb),
            sized("max_split_size_mb", self.max_split_mb),
            sized("max_non_split_rounding_mb", self.non_split_rounding_mb),
            roundup,
            self.collection.map(Collection::text),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(",")
    }

    /// Returns the number of keys; among equal results fewer keys win.
    pub(super) fn keys(&self) -> usize {
        let set = [
            self.expandable,
            self.large_segment_mb.is_some(),
            self.max_split_mb.is_some(),
            self.non_split_rounding_mb.is_some(),
            self.roundup.is_some(),
        ];
        set.into_iter().filter(|&set| set).count() + self.collection.map_or(0, |_| 2)
    }
}

impl Roundup {
    fn text(&self) -> String {
        match self {
            Roundup::All(divisions) => divisions.to_string(),
            Roundup::Each(divisions) => list(divisions),
        }
    }
}

/// Formats the list form. The first pair also applies to smaller sizes, sizes without a pair get 0, and versions
/// differ in the sizes of `>`: every size class up to the last rounded class therefore gets a pair.
fn list(divisions: &[u64; 16]) -> String {
    let first = divisions.iter().take_while(|&&other| other == divisions[0]).count() - 1;
    let last = divisions.iter().rposition(|&divisions| divisions > 1).unwrap_or(0);
    // 2.1 refuses 0; the value 1 has the same meaning.
    let pairs = (first.min(last)..=last).map(|index| format!("{}:{}", 1_u64 << index, divisions[index].max(1)));
    format!("[{}]", pairs.collect::<Vec<_>>().join(","))
}

impl Collection {
    fn text(self) -> String {
        let Collection { threshold, fraction } = self;
        format!("garbage_collection_threshold:{},per_process_memory_fraction:{}", share(threshold), share(fraction))
    }
}

/// Formats a percentage as `0.85`.
fn share(percent: u8) -> String {
    format!("0.{percent:02}")
}

/// Returns the keys of a recorded text that the search does not vary (pinned memory, for example); every setting keeps
/// them.
pub(super) fn list_other_keys(text: &str) -> String {
    const VARIED: [&str; 7] = [
        "expandable_segments",
        "max_split_size_mb",
        "max_non_split_rounding_mb",
        "large_segment_size_mb",
        "roundup_power2_divisions",
        "garbage_collection_threshold",
        "per_process_memory_fraction",
    ];
    let is_kept = |pair: &&str| {
        let key = pair.split(':').next().unwrap_or_default();
        !key.is_empty() && !VARIED.contains(&key)
    };
    let text: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
    pairs(&text).into_iter().filter(is_kept).collect::<Vec<_>>().join(",")
}

/// Splits a text at commas outside brackets.
fn pairs(text: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    text.split(|letter: char| {
        depth += i32::from(letter == '[') - i32::from(letter == ']');
        letter == ',' && depth == 0
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use allocator::Settings;
    use trace::release::NEWEST;

    use super::*;

    fn settings(conf: &Conf, release: Release) -> Option<Settings> {
        Settings::parse(&conf.text(), release).ok()
    }

    fn divisions(values: &[(usize, u64)]) -> [u64; 16] {
        let mut all = [0; 16];
        for &(index, value) in values {
            all[index] = value;
        }
        all
    }

    #[test]
    fn a_combination_is_written_as_pytorch_reads_it() {
        let cases = [
            (Conf::default(), ""),
            (Conf { expandable: true, ..Conf::default() }, "expandable_segments:True"),
            (
                Conf { max_split_mb: Some(128), non_split_rounding_mb: Some(64), ..Conf::default() },
                "max_split_size_mb:128,max_non_split_rounding_mb:64",
            ),
            (
                Conf { collection: Some(Collection { threshold: 80, fraction: 5 }), ..Conf::default() },
                "garbage_collection_threshold:0.80,per_process_memory_fraction:0.05",
            ),
            (
                Conf { roundup: Some(Roundup::Each(divisions(&[(4, 4), (5, 2)]))), ..Conf::default() },
                "roundup_power2_divisions:[8:1,16:4,32:2]",
            ),
        ];
        for (conf, text) in cases {
            assert_eq!(conf.text(), text);
            assert!(settings(&conf, NEWEST).is_some(), "{text}");
        }
    }

    #[test]
    fn a_list_means_its_divisions_in_every_version() {
        let lists = [divisions(&[(0, 2), (1, 2), (7, 8)]), divisions(&[(15, 4)]), [4; 16], divisions(&[(0, 16)])];
        for list in lists {
            let conf = Conf { roundup: Some(Roundup::Each(list)), ..Conf::default() };
            for minor in 0..=15 {
                let read =
                    settings(&conf, Release { major: 2, minor }).map(|settings| settings.roundup_power2_divisions);
                let plain = |all: [u64; 16]| all.map(|divisions| if divisions == 1 { 0 } else { divisions });
                assert_eq!(read.map(plain), Some(list), "{} in 2.{minor}", conf.text());
            }
        }
    }

    #[test]
    fn other_keys_are_kept() {
        let cases = [
            ("", ""),
            ("expandable_segments:True", ""),
            (
                "pinned_use_cuda_host_register:True, max_split_size_mb:64,roundup_power2_divisions:[1:2,>:4],backend:native",
                "pinned_use_cuda_host_register:True,backend:native",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(list_other_keys(text), expected, "{text}");
        }
    }
}
