//! The parser of `PYTORCH_CUDA_ALLOC_CONF` against recorded behaviour of real PyTorch, and the printer.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

#[path = "settings/recorded.rs"]
mod recorded;

use allocator::settings::{Reserve, Settings};
use proptest::prelude::*;
use recorded::{Recorded, Verdict};
use trace::{Bytes, Release};

fn release(minor: u8) -> Release {
    Release { major: 2, minor }
}

#[test]
fn what_real_pytorch_was_seen_to_do() {
    let corpus = include_str!("settings/corpus.jsonl");
    let mut releases = std::collections::BTreeSet::new();
    for line in corpus.lines() {
        let recorded: Recorded = serde_json::from_str(line).unwrap();
        releases.insert(recorded.release().unwrap());
        let verdict = recorded.compare();
        assert!(!matches!(verdict, Verdict::Different(_)), "{verdict:?}");
    }
    assert!(releases.into_iter().eq([0, 6, 7, 8, 9, 10, 11, 12, 15].map(release)));
}

/// A text, the first release that accepts it, and a resulting setting.
#[test]
fn a_release_takes_what_it_knows() {
    let cases = [
        ("max_split_size_mb:21", 0),
        ("max_split_size_mb:20", 10),
        ("expandable_segments:True", 1),
        ("max_non_split_rounding_mb:64", 6),
        ("roundup_power2_divisions:[1:0,2:4]", 2),
        ("per_process_memory_fraction:0.5", 10),
        ("large_segment_size_mb:12,max_split_size_mb:12", 11),
        ("throw_on_cudamalloc_oom:True", 12),
        ("pinned_max_cached_size_mb:1", 13),
        ("expandable_segments_reserve:0.5", 15),
    ];
    for (text, since) in cases {
        for minor in 0..=15 {
            assert_eq!(Settings::parse(text, release(minor)).is_ok(), minor >= since, "{text:?} 2.{minor}");
        }
    }
}

#[test]
fn a_list_fills_the_rest_from_the_last_pair_or_after_it() {
    let divisions = |minor| Settings::parse("roundup_power2_divisions:[4:2,8:4,64:8,>:1]", release(minor));
    let rest = |at: u64| [2, 2, 2, 4, 0, 0, at, 1, 1, 1, 1, 1, 1, 1, 1, 1];
    assert_eq!(divisions(9).unwrap().roundup_power2_divisions, rest(1));
    assert_eq!(divisions(10).unwrap().roundup_power2_divisions, rest(8));
}

#[test]
fn a_running_process_keeps_some_settings() {
    let text = "large_segment_size_mb:32,max_non_split_rounding_mb:64,max_split_size_mb:128,expandable_segments:True,\
                garbage_collection_threshold:0.5,roundup_power2_divisions:4,per_process_memory_fraction:0.5";
    let before = Settings::parse(text, release(11)).unwrap();
    let after = before.reparse("", release(11)).unwrap();
    let kept = Settings {
        large_segment_size: Bytes::from_mib(32),
        max_non_split_rounding: Bytes::from_mib(32),
        expandable_segments: true,
        per_process_memory_fraction: 0.5,
        ..Settings::default()
    };
    assert_eq!(after, kept);
}

#[test]
fn a_text_has_no_more_than_it_needs() {
    let zeros_then_four = [0, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4];
    let mut single = [0; 16];
    single[6] = 8;
    let default = Settings::default();
    let cases = [
        (default.clone(), Some("")),
        (Settings { max_split_size: Some(Bytes::from_mib(128)), ..default.clone() }, Some("max_split_size_mb:128")),
        (Settings { max_split_size: Some(Bytes::from_mib(12)), ..default.clone() }, None),
        (Settings { max_split_size: Some(Bytes(1)), ..default.clone() }, None),
        (
            Settings {
                large_segment_size: Bytes::from_mib(12),
                max_non_split_rounding: Bytes::from_mib(12),
                garbage_collection_threshold: 0.8,
                ..default.clone()
            },
            Some("large_segment_size_mb:12,garbage_collection_threshold:0.8"),
        ),
        (Settings { roundup_power2_divisions: [4; 16], ..default.clone() }, Some("roundup_power2_divisions:4")),
        (
            Settings { roundup_power2_divisions: zeros_then_four, ..default.clone() },
            Some("roundup_power2_divisions:[1:0,>:4]"),
        ),
        (Settings { roundup_power2_divisions: single, ..default.clone() }, Some("roundup_power2_divisions:[1:0,64:8]")),
        (
            Settings { expandable_segments_reserve: Some(Reserve::Bytes(Bytes::from_gib(40))), ..default.clone() },
            Some("expandable_segments_reserve:40G"),
        ),
        (
            Settings { cuda_malloc_async: true, expandable_segments: true, ..default },
            Some("backend:cudaMallocAsync,expandable_segments:True"),
        ),
    ];
    for (settings, text) in cases {
        assert_eq!(settings.conf(release(15)).ok().as_deref(), text, "{settings:?}");
    }
}

fn mib() -> impl Strategy<Value = Bytes> {
    prop_oneof![
        8 => (1_u64..4096).prop_map(Bytes::from_mib),
        1 => Just(Bytes((u64::MAX >> 20) << 20)),
        1 => (1_u64..1 << 44).prop_map(Bytes::from_mib),
    ]
}

fn divisions() -> impl Strategy<Value = [u64; 16]> {
    let one = prop_oneof![2 => Just(0), 4 => (0_u32..5).prop_map(|power| 1 << power), 1 => (0_u32..64).prop_map(|power| 1_u64 << power)];
    let runs = proptest::collection::vec((one, 1_usize..9), 1..6);
    runs.prop_map(|runs| {
        let mut all = runs.into_iter().flat_map(|(value, length)| std::iter::repeat_n(value, length));
        std::array::from_fn(|_| all.next().unwrap_or_default())
    })
}

fn reserve() -> impl Strategy<Value = Option<Reserve>> {
    prop_oneof![
        4 => Just(None),
        1 => (0.001_f64..2.0).prop_map(|share| Some(Reserve::Fraction(share))),
        1 => (0_u64..1 << 53).prop_map(|bytes| Some(Reserve::Bytes(Bytes(bytes)))),
    ]
}

/// A key with a value that many releases accept.
fn pair() -> impl Strategy<Value = String> {
    prop_oneof![
        "(max_split_size|max_non_split_rounding|large_segment_size)_mb:(-1|[1-9][0-9]{1,12})",
        "roundup_power2_divisions:\\[(1|2|4|64|256):[0248],(8|512|32768):[0124](,>:[0124])?\\]",
        "(garbage_collection_threshold|per_process_memory_fraction):0?\\.[0-9]{1,18}(e-[0-9]{1,3})?",
        "(expandable_segments|release_lock_on_cudamalloc|throw_on_cudamalloc_oom):(True|False)",
        "expandable_segments_reserve:[0-9]{1,9}\\.[0-9]{1,9}(e-?[0-9]{1,2})?G?",
        "backend:(native|cudaMallocAsync)",
    ]
}

prop_compose! {
    /// Settings that the newest release accepts: no size is below the size of large segments.
    fn settings()(
        sizes in (mib(), mib(), proptest::option::of(mib())),
        divisions in divisions(),
        threshold in prop_oneof![Just(0.0), 1e-320..1e-300, 0.001..1.0_f64],
        fraction in prop_oneof![Just(1.0), 0.0..=1.0_f64],
        reserve in reserve(),
        flags in any::<[bool; 5]>(),
    ) -> Settings {
        let [cuda_malloc_async, expandable_segments, throw, reuse, release_lock] = flags;
        let large_segment_size = sizes.0.max(Bytes::from_mib(11));
        Settings {
            cuda_malloc_async,
            max_split_size: sizes.2.map(|size| size.max(large_segment_size)),
            max_non_split_rounding: sizes.1.max(large_segment_size),
            large_segment_size,
            roundup_power2_divisions: divisions,
            garbage_collection_threshold: threshold,
            expandable_segments,
            expandable_segments_reserve: reserve,
            per_process_memory_fraction: fraction,
            throw_on_cudamalloc_oom: throw,
            graph_capture_record_stream_reuse: reuse,
            release_lock_on_cudamalloc: release_lock,
        }
    }
}

proptest! {
    #[test]
    fn the_newest_release_can_be_given_anything(settings in settings()) {
        let text = settings.conf(release(15)).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(Settings::parse(&text, release(15)), Ok(settings));
    }

    #[test]
    fn any_release_takes_a_text_for_settings_it_gave(texts in proptest::collection::vec(pair(), 0..4), minor in 0_u8..=15) {
        if let Ok(settings) = Settings::parse(&texts.join(","), release(minor)) {
            let text = settings.conf(release(minor)).map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!(Settings::parse(&text, release(minor)), Ok(settings));
        }
    }
}
