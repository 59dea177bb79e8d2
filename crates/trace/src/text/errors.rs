//! The errors of a text, in bounded memory.
//!
//! # Note [Many errors]
//! A job that retries without end prints an error at each try. The latest errors are kept unchanged; beyond [`MOST`],
//! older errors are grouped by kind, device, rank and line of the user's source. The last error of a group represents
//! the group, with the number of errors and the line of the first: reports are about the last error. A text with fewer
//! errors has no groups.

use std::collections::BTreeMap;

use super::artifact::{Framework, OomGroup, OomKind, StatedOom};
use super::dedup::{self, NEAR};
use crate::source_file::is_user_file;

/// The most errors that stand by themselves.
const MOST: usize = 256;
/// The number of last errors outside of groups: two errors show that the second was raised while the first was handled.
const LAST: usize = 2;
/// The most groups by line and rank; further errors are grouped by kind alone.
const MOST_GROUPS: usize = 256;

/// The errors so far.
#[derive(Default)]
pub(super) struct Errors {
    latest: Vec<StatedOom>,
    groups: BTreeMap<GroupKey, StatedOom>,
}

/// The statements in which the errors of a group agree.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct GroupKey {
    framework: Framework,
    kind: OomKind,
    rank: Option<u32>,
    device_index: Option<u32>,
    line: Option<(String, u32)>,
}

impl Errors {
    /// Adds an error, or counts it as a printing of an earlier error.
    pub(super) fn add(&mut self, error: StatedOom) {
        dedup::add(&mut self.latest, error);
        if self.latest.len() >= MOST {
            self.group(NEAR);
        }
    }

    /// All errors; groups have the line of their last error.
    pub(super) fn finish(mut self) -> impl Iterator<Item = StatedOom> {
        if !self.groups.is_empty() {
            self.group(LAST);
        }
        self.groups.into_values().chain(self.latest)
    }

    /// Groups all errors but the last `kept`.
    fn group(&mut self, kept: usize) {
        let older = self.latest.len().saturating_sub(kept);
        for error in self.latest.drain(..older) {
            let key = GroupKey::of(&error);
            let is_room = self.groups.len() < MOST_GROUPS || self.groups.contains_key(&key);
            let key = if is_room { key } else { key.without_line() };
            let group = self.groups.remove(&key);
            self.groups.insert(key, add_to(group, error));
        }
    }
}

/// The group with one more error.
fn add_to(group: Option<StatedOom>, mut error: StatedOom) -> StatedOom {
    error.group = group.map(|earlier| match earlier.group {
        Some(group) => OomGroup { errors: group.errors + 1, ..group },
        None => OomGroup { errors: 2, first_line: earlier.line },
    });
    error
}

impl GroupKey {
    fn of(error: &StatedOom) -> GroupKey {
        let own = error.traceback.iter().find(|frame| is_user_file(&frame.file, ""));
        let frame = own.or(error.traceback.first());
        GroupKey {
            framework: error.framework,
            kind: error.kind,
            rank: error.rank,
            device_index: error.device_index,
            line: frame.map(|frame| (frame.file.clone(), frame.line)),
        }
    }

    fn without_line(self) -> GroupKey {
        GroupKey { rank: None, device_index: None, line: None, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::Frame;
    use crate::text::StatedBytes;

    /// An error with a unique number, at a line of the source.
    fn error(line: u32, source_line: u32) -> StatedOom {
        let frame = Frame { file: "train.py".to_owned(), line: source_line, function: "step".to_owned() };
        let free_bytes = Some(StatedBytes::exact(line.into()));
        StatedOom { line, free_bytes, occurrences: 1, traceback: vec![frame], ..StatedOom::default() }
    }

    /// The lines of the artifacts, each with the number of errors and the first line of its group.
    fn check(count: u32, source_lines: u32, expected: &[(u32, Option<(u64, u32)>)]) {
        let mut errors = Errors::default();
        for line in 1..=count {
            errors.add(error(line, line % source_lines));
        }
        let found: Vec<_> = errors.finish().collect();
        let group = |oom: &StatedOom| oom.group.map(|group| (group.errors, group.first_line));
        let mut found: Vec<_> = found.iter().map(|oom| (oom.line, group(oom))).collect();
        found.sort_unstable();
        assert_eq!(found, expected, "{count} errors at {source_lines} lines");
    }

    #[test]
    fn many_errors_are_groups_and_few_stand_by_themselves() {
        check(3, 1, &[(1, None), (2, None), (3, None)]);
        check(1000, 1, &[(998, Some((998, 1))), (999, None), (1000, None)]);
        check(1000, 2, &[(997, Some((499, 1))), (998, Some((499, 2))), (999, None), (1000, None)]);
    }

    #[test]
    fn the_number_of_artifacts_is_bounded() {
        let mut errors = Errors::default();
        (1..100_000).for_each(|line| errors.add(error(line, line)));
        let found: Vec<_> = errors.finish().collect();
        let all: u64 = found.iter().map(StatedOom::count).sum();
        assert!(found.len() <= MOST_GROUPS + 1 + LAST, "{}", found.len());
        assert_eq!(all, 99_999);
    }
}
