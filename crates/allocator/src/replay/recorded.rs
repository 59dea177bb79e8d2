//! The settings and the version under which a snapshot was recorded.

use trace::release::NEWEST;
use trace::{Action, Event, Release, TorchVersions};

use super::op::Program;
use super::verify::{Agreement, verify};
use crate::rules::Rules;
use crate::settings::Settings;

/// One version for each set of rules, newest first.
const RELEASES: [Release; 8] = [minor(15), minor(13), minor(12), minor(11), minor(10), minor(7), minor(6), minor(1)];

const fn minor(minor: u8) -> Release {
    Release { major: 2, minor }
}

/// The settings of a recording: those of the recorded text, overridden by the settings that the snapshot states, since
/// a program may change settings. Older versions state none; their events only show whether segments expand. If the
/// version rejects the text, the newest version parses it; a text that no version accepts was never in force.
pub fn recorded_settings(stated: &trace::SnapshotSettings, events: &[Event], release: Release) -> Settings {
    let read = Settings::parse(&stated.conf, release).or_else(|_| Settings::parse(&stated.conf, NEWEST));
    let read = read.unwrap_or_default();
    let maps = || events.iter().any(|event| event.action == Action::SegmentMap);
    let mut roundup_power2_divisions = read.roundup_power2_divisions;
    for &(mib, divisions) in &stated.roundup_power2_divisions {
        let index = mib.checked_ilog2().unwrap_or(0).min(15) as usize;
        roundup_power2_divisions[index] = divisions;
    }
    Settings {
        max_split_size: stated.max_split_size,
        garbage_collection_threshold: stated.garbage_collection_threshold.unwrap_or(0.0),
        expandable_segments: stated.expandable_segments || maps(),
        roundup_power2_divisions,
        release_lock_on_cudamalloc: stated.release_lock_on_cudamalloc,
        ..read
    }
}

/// Among the possible versions of a snapshot, the one whose rules repeat most of the recording, the newest among
/// equals.
pub fn recorded_by(
    program: &Program,
    events: &[Event],
    settings: &Settings,
    versions: TorchVersions,
) -> (Release, Agreement) {
    let mut best: Option<(Release, Agreement)> = None;
    for release in candidates(versions) {
        let agreement = verify(program, events, settings, Rules::of(release));
        let is_better = best.as_ref().is_none_or(|(_, best)| agreement.is_longer_than(best));
        if is_better {
            let is_whole = agreement.difference.is_none();
            best = Some((release, agreement));
            if is_whole {
                break;
            }
        }
    }
    best.unwrap_or_else(|| (minor(0), verify(program, events, settings, Rules::of(minor(0)))))
}

/// One version for each possible set of rules.
fn candidates(versions: TorchVersions) -> Vec<Release> {
    let newest = RELEASES.into_iter().filter(|release| versions.before.is_none_or(|before| *release < before));
    let mut candidates: Vec<Release> = newest.map(|release| release.max(versions.from)).collect();
    candidates.dedup_by_key(|release| Rules::of(*release));
    candidates
}
