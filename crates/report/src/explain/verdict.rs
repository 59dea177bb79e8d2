//! The verdict of `explain`.

use super::{ExplainReport, InputKind};
use crate::finding::Severity;

/// The verdict of `explain`: the first of these that is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExplainVerdict {
    /// The inputs show an out-of-memory error.
    Oom,
    /// The inputs show no such error, and a finding above `info`.
    Found,
    /// The inputs are texts without an error, a table or a finding.
    NothingToExplain,
    /// The inputs show no problem.
    Clean,
}

impl ExplainVerdict {
    /// The words of all verdicts, with their meaning.
    pub(crate) const WORDS: [(&'static str, &'static str); 4] = [
        ("oom", "The inputs show an out-of-memory error."),
        ("found", "The inputs show no out-of-memory error, and a finding above `info`."),
        ("nothing_to_explain", "The inputs are texts without an error, a table or a finding."),
        ("clean", "The inputs show no problem."),
    ];

    /// Returns the verdict's word.
    pub(crate) fn word(self) -> &'static str {
        ExplainVerdict::WORDS[self as usize].0
    }
}

impl ExplainReport {
    /// Returns the verdict.
    pub fn verdict(&self) -> ExplainVerdict {
        let ran_out = !self.ooms.is_empty() || self.devices.iter().any(|device| device.oom.is_some());
        match () {
            () if ran_out => ExplainVerdict::Oom,
            () if self.findings.iter().any(|finding| finding.severity != Severity::Info) => ExplainVerdict::Found,
            () if self.has_nothing_to_explain() => ExplainVerdict::NothingToExplain,
            () => ExplainVerdict::Clean,
        }
    }

    fn has_nothing_to_explain(&self) -> bool {
        let is_all_text = self.inputs.iter().all(|input| input.kind == InputKind::Text);
        is_all_text && self.findings.is_empty() && self.counters.is_empty() && self.cards.is_empty()
    }
}
