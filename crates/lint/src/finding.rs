//! A finding of a rule, and the fix for it.

use causes::CauseId;
use report::lint::{Certainty, LintEdit, LintFinding, LintFix};
use report::{Location, RuleId, Severity};

use crate::source::SourceFile;
use crate::span::{Position, TextSpan};

/// The effect of a mistake on memory; the worst orders first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemoryEffect {
    /// Memory grows with every step, without bound.
    Grows,
    /// The program uses more memory than the same work needs, or loses memory that the GPU has.
    Wastes,
    /// The program loses nothing today. Off unless selected.
    Style,
}

impl MemoryEffect {
    /// The severity in the reports of all commands.
    pub fn severity(self) -> Severity {
        match self {
            MemoryEffect::Grows => Severity::Error,
            MemoryEffect::Wastes => Severity::Warning,
            MemoryEffect::Style => Severity::Info,
        }
    }
}

/// The risk of a fix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Applicability {
    /// The fixed program computes the same values.
    Safe,
    /// The fixed program may compute other values, or the fix guesses an intention.
    Unsafe,
}

/// The replacement of a range of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The replaced bytes; an empty span inserts.
    pub span: TextSpan,
    /// The new text.
    pub text: String,
}

/// A change of the text that removes a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The risk of the change.
    pub applicability: Applicability,
    /// The edits, ordered by position and without overlap.
    pub edits: Vec<Edit>,
}

/// A mistake found by a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: RuleId,
    /// The effect on memory.
    pub effect: MemoryEffect,
    /// The reported code.
    pub span: TextSpan,
    /// The start of the reported code.
    pub start: Position,
    /// The end of the reported code: the position after its last character.
    pub end: Position,
    /// The effect and cost of the code, in one sentence without a full stop.
    pub message: String,
    /// The advice, in a few words.
    pub help: &'static str,
    /// The cause that `check` and `explain` name when a run shows the mistake.
    pub cause: Option<CauseId>,
    /// The fix, for mistakes with a mechanical one.
    pub fix: Option<Fix>,
    /// The confidence in the finding.
    pub certainty: Certainty,
}

/// Rules whose mistake may cost host memory, time or an error alone.
const BEYOND_GPU_MEMORY: [&str; 9] = [
    "accumulated-graph",
    "amp-argument-names",
    "anomaly-detection-left-on",
    "checkpoint-without-use-reentrant",
    "deprecated-cuda-amp",
    "empty-cache-in-loop",
    "gc-collect-in-loop",
    "graph-in-collection",
    "memory-history-unbounded",
];

impl Finding {
    /// Checks whether the mistake may cost something else than GPU memory, so that an equal need with the fix does not refute the finding.
    pub fn may_spare_gpu_memory(&self) -> bool {
        BEYOND_GPU_MEMORY.contains(&self.rule.0)
    }

    /// Returns the finding in the form that all commands report; `file` is the name shown for the file.
    pub fn report(&self, source: &SourceFile, file: &str) -> LintFinding {
        let file = self.start.cell.map_or_else(|| file.to_owned(), |cell| format!("{file}:cell {cell}"));
        LintFinding {
            finding: report::Finding {
                without: None,
                rule: self.rule,
                severity: self.effect.severity(),
                message: self.message.clone(),
                location: Some(Location { file, line: self.start.line, column: Some(self.start.column) }),
                evidence: Vec::new(),
                remedies: vec![self.remedy()],
            },
            cell: self.start.cell,
            end: self.end.into(),
            fix: self.fix.as_ref().map(|fix| fix.report(source)),
            certainty: self.certainty,
            proof: None,
            excerpt: source.excerpt(self.span),
        }
    }

    /// The advice as a remedy of the report.
    pub fn remedy(&self) -> report::Remedy {
        let shown = self.cause.map_or_else(String::new, |cause| format!("; a run shows it as {cause}"));
        report::Remedy {
            remedy: self.help.to_owned(),
            standing: report::Standing::Advice,
            before_bytes: None,
            after_bytes: None,
            how: format!("see `oomph rule {}`{shown}", self.rule),
        }
    }
}

impl Fix {
    fn report(&self, source: &SourceFile) -> LintFix {
        let place = |offset| source.position(offset).into();
        let edit = |edit: &Edit| LintEdit {
            start: place(edit.span.start),
            end: place(edit.span.end),
            text: edit.text.clone(),
        };
        LintFix { is_safe: self.applicability == Applicability::Safe, edits: self.edits.iter().map(edit).collect() }
    }
}
