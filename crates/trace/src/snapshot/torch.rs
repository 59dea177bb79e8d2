//! The versions of PyTorch that may have written a snapshot.

use crate::release::Release;

/// The versions of PyTorch that write exactly the keys of a snapshot.
///
/// A snapshot does not name its version. Keys were added over time (measured on the wheels of 1.13 to 2.15), so the
/// present and the missing keys leave a few versions. A script that rewrote the snapshot may have removed keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TorchVersions {
    /// The first version that writes all keys of the snapshot.
    pub from: Release,
    /// The first version that writes further keys; `None` if no known version does.
    pub before: Option<Release>,
}

impl Default for TorchVersions {
    fn default() -> TorchVersions {
        TorchVersions { from: release(1, 0), before: None }
    }
}

/// The keys that distinguish versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SnapshotKey {
    /// The root is a dict.
    Root,
    /// A segment; without one, the keys of segments are unknown.
    Segment,
    /// An event; without one, the keys of events are unknown.
    Event,
    SegmentPoolId,
    TimeUs,
    AllocatorSettings,
    ExternalAnnotations,
    CompileContext,
    GraphCaptureRecordStreamReuse,
    UserMetadata,
    PoolId,
    MaxRoundThreshold,
    HostSegments,
}

/// The first version that writes a key, and the container of the key.
const SINCE: [(SnapshotKey, Release, SnapshotKey); 11] = [
    (SnapshotKey::Root, release(2, 0), SnapshotKey::Root),
    (SnapshotKey::SegmentPoolId, release(2, 1), SnapshotKey::Segment),
    (SnapshotKey::TimeUs, release(2, 2), SnapshotKey::Event),
    (SnapshotKey::AllocatorSettings, release(2, 3), SnapshotKey::Root),
    (SnapshotKey::ExternalAnnotations, release(2, 5), SnapshotKey::Root),
    (SnapshotKey::CompileContext, release(2, 8), SnapshotKey::Event),
    (SnapshotKey::GraphCaptureRecordStreamReuse, release(2, 9), SnapshotKey::AllocatorSettings),
    (SnapshotKey::UserMetadata, release(2, 10), SnapshotKey::Event),
    (SnapshotKey::PoolId, release(2, 12), SnapshotKey::Event),
    (SnapshotKey::MaxRoundThreshold, release(2, 13), SnapshotKey::AllocatorSettings),
    (SnapshotKey::HostSegments, release(2, 14), SnapshotKey::Root),
];

/// The keys of a snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen(u16);

const fn release(major: u8, minor: u8) -> Release {
    Release { major, minor }
}

impl Seen {
    #[inline]
    pub(crate) fn add(&mut self, key: SnapshotKey) {
        self.0 |= 1 << key as u16;
    }

    /// The union of two sets of keys.
    pub(crate) fn and(self, other: Seen) -> Seen {
        Seen(self.0 | other.0)
    }

    fn has(self, key: SnapshotKey) -> bool {
        self.0 & 1 << key as u16 != 0
    }

    /// The matching versions.
    pub(crate) fn versions(self) -> TorchVersions {
        let newest = SINCE.iter().rfind(|&&(key, _, _)| self.has(key));
        let from = newest.map_or(release(1, 0), |&(_, since, _)| since);
        let mut absent =
            SINCE.iter().filter(|&&(key, _, within)| !self.has(key) && (within == key || self.has(within)));
        let before = absent.find(|&&(_, since, _)| since > from).map(|&(_, since, _)| since);
        TorchVersions { from, before }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The present keys, the first matching version and the first later version without a match.
    type Case<'a> = (&'a [&'a [SnapshotKey]], Release, Option<Release>);

    #[test]
    fn keys_that_are_there_and_keys_that_are_not_leave_a_few_versions() {
        use SnapshotKey::*;
        let base = [Root, Segment, Event];
        let older = [AllocatorSettings, ExternalAnnotations, SegmentPoolId, GraphCaptureRecordStreamReuse];
        let newer = [TimeUs, CompileContext, UserMetadata];
        let cases: [Case<'_>; 7] = [
            (&[&[Segment]], release(1, 0), Some(release(2, 0))),
            (&[&base], release(2, 0), Some(release(2, 1))),
            (&[&base, &[SegmentPoolId]], release(2, 1), Some(release(2, 2))),
            (&[&base, &[SegmentPoolId, TimeUs]], release(2, 2), Some(release(2, 3))),
            (&[&[Root, Segment], &older], release(2, 9), Some(release(2, 13))),
            (&[&base, &older, &newer], release(2, 10), Some(release(2, 12))),
            (&[&base, &older, &newer, &[PoolId, MaxRoundThreshold, HostSegments]], release(2, 14), None),
        ];
        for (keys, from, before) in cases {
            let mut seen = Seen::default();
            keys.iter().copied().flatten().for_each(|&key| seen.add(key));
            assert_eq!(seen.versions(), TorchVersions { from, before }, "{keys:?}");
        }
    }
}
