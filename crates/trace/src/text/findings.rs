//! The findings of a text, and the state between its anchors.

use memchr::memchr_iter;

use super::application::Applications;
use super::artifact::Artifact;
use super::errors::Errors;
use super::kept::Kept;
use super::look_alike::LookAlikes;
use super::traceback::Tracebacks;

/// The findings of the text read so far.
#[derive(Default)]
pub(super) struct Findings {
    /// The offset in the text at which the last artifact ends: anchors before it belong to that artifact.
    pub(super) done: u64,
    pub(super) lines: LineCount,
    pub(super) errors: Errors,
    pub(super) look_alikes: LookAlikes,
    pub(super) programs: Applications,
    /// The rank that the launcher names as the first to fail.
    pub(super) root_rank: Option<u32>,
    /// Tables and refusals.
    pub(super) others: Kept,
    pub(super) tracebacks: Tracebacks,
}

impl Findings {
    /// All artifacts, in the order of the text.
    pub(super) fn finish(self) -> Vec<Artifact> {
        let errors = self.errors.finish().map(Artifact::Oom);
        let look_alikes = self.look_alikes.finish().into_iter().map(Artifact::LookAlike);
        let root = self.root_rank.map(Artifact::RootRank);
        let mut artifacts: Vec<Artifact> = errors
            .chain(root)
            .chain(look_alikes)
            .chain(self.others.finish())
            .chain(self.programs.finish().map(Artifact::Application))
            .collect();
        artifacts.sort_by_key(Artifact::first_line);
        artifacts
    }
}

/// The number of line feeds up to an offset.
#[derive(Default)]
pub(super) struct LineCount {
    before: u32,
    counted_to: u64,
}

impl LineCount {
    /// The number of the line with the byte at `at`, counted from 1. `text` is a part that starts at the offset `base`.
    /// Anchors come in order, so each line is counted once.
    pub(super) fn number(&mut self, text: &[u8], base: u64, at: usize) -> u32 {
        let from = usize::try_from(self.counted_to.saturating_sub(base)).unwrap_or(usize::MAX);
        if let Some(uncounted) = text.get(from..at) {
            let more = memchr_iter(b'\n', uncounted).count();
            self.before = self.before.saturating_add(u32::try_from(more).unwrap_or(u32::MAX));
            self.counted_to = base + at as u64;
        }
        self.before.saturating_add(1)
    }
}
