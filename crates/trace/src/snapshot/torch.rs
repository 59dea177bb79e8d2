//! Which versions of PyTorch write such a snapshot.

use std::fmt;

/// A version of PyTorch, without its patch level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release {
    /// The 2 of 2.11.
    pub major: u8,
    /// The 11 of 2.11.
    pub minor: u8,
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The versions of PyTorch that write the keys that a snapshot has, and not those that it lacks.
///
/// A snapshot does not name its version. Keys were added over time (measured on the wheels of 1.13 to 2.15), so those
/// that are there and those that are not leave a few versions. A script that rewrote the snapshot may have lost some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TorchVersions {
    /// The first that writes all its keys.
    pub from: Release,
    /// The first that would have written more; `None` where none up to 2.15 would.
    pub before: Option<Release>,
}

impl Default for TorchVersions {
    fn default() -> TorchVersions {
        TorchVersions { from: release(1, 0), before: None }
    }
}

/// What tells versions apart.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// Any event; without one, the keys of events say nothing.
    pub(crate) event: bool,
    pub(crate) time_us: bool,
    pub(crate) compile_context: bool,
    pub(crate) user_metadata: bool,
    pub(crate) pool_id: bool,
    /// Any segment.
    pub(crate) segment: bool,
    pub(crate) segment_pool_id: bool,
    /// The root is a dict.
    pub(crate) dict: bool,
    pub(crate) settings: bool,
    pub(crate) annotations: bool,
    pub(crate) host_segments: bool,
    pub(crate) graph_capture_record_stream_reuse: bool,
    pub(crate) max_round_threshold: bool,
}

const fn release(major: u8, minor: u8) -> Release {
    Release { major, minor }
}

impl Seen {
    /// The versions that fit.
    pub(crate) fn versions(&self) -> TorchVersions {
        // Since when it is written, whether it could be seen here, and whether it was.
        let keys = [
            (release(2, 0), true, self.dict),
            (release(2, 1), self.segment, self.segment_pool_id),
            (release(2, 2), self.event, self.time_us),
            (release(2, 3), self.dict, self.settings),
            (release(2, 5), self.dict, self.annotations),
            (release(2, 8), self.event, self.compile_context),
            (release(2, 9), self.settings, self.graph_capture_record_stream_reuse),
            (release(2, 10), self.event, self.user_metadata),
            (release(2, 12), self.event, self.pool_id),
            (release(2, 13), self.settings, self.max_round_threshold),
            (release(2, 14), self.dict, self.host_segments),
        ];
        let from = keys.iter().rfind(|(_, _, seen)| *seen).map_or(release(1, 0), |&(since, _, _)| since);
        let absent = keys.iter().find(|&&(since, possible, seen)| possible && !seen && since > from);
        TorchVersions { from, before: absent.map(|&(since, _, _)| since) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_are_there_and_keys_that_are_not_leave_a_few_versions() {
        let of_2_0 = Seen { event: true, segment: true, dict: true, ..Seen::default() };
        let of_2_2 = Seen { time_us: true, segment_pool_id: true, ..of_2_0 };
        let of_2_11 = Seen {
            settings: true,
            annotations: true,
            compile_context: true,
            graph_capture_record_stream_reuse: true,
            user_metadata: true,
            ..of_2_2
        };
        let of_2_14 = Seen { pool_id: true, max_round_threshold: true, host_segments: true, ..of_2_11 };
        let cases = [
            (Seen { segment: true, ..Seen::default() }, release(1, 0), Some(release(2, 0))),
            (of_2_0, release(2, 0), Some(release(2, 1))),
            (of_2_2, release(2, 2), Some(release(2, 3))),
            (of_2_11, release(2, 10), Some(release(2, 12))),
            (Seen { event: false, user_metadata: false, compile_context: false, ..of_2_11 }, release(2, 9), Some(release(2, 13))),
            (of_2_14, release(2, 14), None),
        ];
        for (seen, from, before) in cases {
            assert_eq!(seen.versions(), TorchVersions { from, before }, "{seen:?}");
        }
    }
}
