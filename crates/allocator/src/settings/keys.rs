//! The keys, with the release that introduced each.

use trace::Release;

/// A key and the requirements for reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SettingKey {
    pub(super) name: &'static str,
    pub(super) meaning: Meaning,
    /// The minor of the first 2.x release with the key.
    since: u8,
    /// Set for keys of the parser shared among accelerators (from 2.10).
    pub(super) common: bool,
}

/// The setting of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    MaxSplitSize,
    MaxNonSplitRounding,
    LargeSegmentSize,
    GarbageCollectionThreshold,
    PerProcessMemoryFraction,
    RoundupPower2Divisions,
    ExpandableSegmentsReserve,
    ReserveByClass,
    Backend,
    Flag(Flag),
    PinnedNumRegisterThreads,
    PinnedReserveSegmentSize,
    PinnedSize,
}

/// The flag of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flag {
    ExpandableSegments,
    ThrowOnCudaMallocOom,
    GraphCaptureRecordStreamReuse,
    ReleaseLockOnCudaMalloc,
    /// A setting of pinned memory.
    Pinned,
}

const fn common(name: &'static str, meaning: Meaning, since: u8) -> SettingKey {
    SettingKey { name, meaning, since, common: true }
}

const fn cuda(name: &'static str, meaning: Meaning, since: u8) -> SettingKey {
    SettingKey { name, meaning, since, common: false }
}

/// Each key was tried on the releases of Note [Compared with PyTorch] in `settings.rs`; for the other releases, the
/// libraries of their wheels were searched for the key.
const KEYS: [SettingKey; 22] = [
    common("max_split_size_mb", Meaning::MaxSplitSize, 0),
    common("garbage_collection_threshold", Meaning::GarbageCollectionThreshold, 0),
    common("roundup_power2_divisions", Meaning::RoundupPower2Divisions, 0),
    cuda("backend", Meaning::Backend, 0),
    common("expandable_segments", Meaning::Flag(Flag::ExpandableSegments), 1),
    cuda("release_lock_on_cudamalloc", Meaning::Flag(Flag::ReleaseLockOnCudaMalloc), 2),
    cuda("release_lock_on_hipmalloc", Meaning::Flag(Flag::ReleaseLockOnCudaMalloc), 2),
    cuda("pinned_use_cuda_host_register", Meaning::Flag(Flag::Pinned), 2),
    cuda("pinned_use_hip_host_register", Meaning::Flag(Flag::Pinned), 2),
    cuda("pinned_num_register_threads", Meaning::PinnedNumRegisterThreads, 2),
    common("max_non_split_rounding_mb", Meaning::MaxNonSplitRounding, 6),
    common("pinned_use_background_threads", Meaning::Flag(Flag::Pinned), 6),
    cuda("graph_capture_record_stream_reuse", Meaning::Flag(Flag::GraphCaptureRecordStreamReuse), 9),
    cuda("pinned_reserve_segment_size_mb", Meaning::PinnedReserveSegmentSize, 10),
    cuda("per_process_memory_fraction", Meaning::PerProcessMemoryFraction, 10),
    common("large_segment_size_mb", Meaning::LargeSegmentSize, 11),
    cuda("throw_on_cudamalloc_oom", Meaning::Flag(Flag::ThrowOnCudaMallocOom), 12),
    cuda("pinned_free_catch_all", Meaning::Flag(Flag::Pinned), 12),
    common("pinned_max_round_threshold_mb", Meaning::PinnedSize, 13),
    common("pinned_max_cached_size_mb", Meaning::PinnedSize, 13),
    cuda("expandable_segments_reserve", Meaning::ExpandableSegmentsReserve, 15),
    cuda("expandable_segments_reserve_by_class", Meaning::ReserveByClass, 15),
];

/// The key of a name, if the release has it.
pub(super) fn find(name: &str, release: Release) -> Option<SettingKey> {
    KEYS.into_iter().find(|key| key.name == name && release >= Release { major: 2, minor: key.since })
}
