//! The report of `lint`. The serialised form is the contract of `lint --json` (docs/schema/README.md).

use std::ops::Range;

use serde::Serialize;
use trace::Bytes;

use crate::finding::{Finding, RuleId};

/// The report of `lint`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LintReport {
    /// oomph's version.
    pub version: String,
    /// The findings, by file and line.
    pub findings: Vec<LintFinding>,
    /// The files that are not valid Python.
    pub unreadable: Vec<UnreadableFile>,
    /// The number of files, unreadable files included.
    pub files: usize,
    /// The number of findings that the baseline hides.
    pub hidden: usize,
    /// The number of findings fixed in the files.
    pub fixed: usize,
    /// Further remarks for the reader, a sentence each.
    pub notes: Vec<String>,
    /// The rules of the run.
    #[serde(skip)]
    pub rules: Vec<LintRule>,
    /// The reader's working directory: names of files in `headline` are relative to it.
    pub folder: String,
}

/// A finding in a source file: the shared finding, with facts that only the source shows.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LintFinding {
    /// The fields shared by all commands.
    #[serde(flatten)]
    pub finding: Finding<RuleId>,
    /// The cell of a notebook, from 1; lines are counted from the first line of the cell.
    pub cell: Option<u32>,
    /// The position after the last character, line and column from 1.
    pub end: LineColumn,
    /// The change of the source that removes the pattern; `None` if a person has to make the change.
    pub fix: Option<LintFix>,
    /// The confidence in the finding; `docs/lint/README.md` has the measured precision of each.
    pub certainty: Certainty,
    /// What dry runs with and without the fix show; `None` unless asked for.
    pub proof: Option<LintProof>,
    /// The source lines of the finding.
    #[serde(skip)]
    pub excerpt: Excerpt,
}

/// The need of a program with a mistake, and with lint's fix of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LintProof {
    /// The need of the program as it is.
    pub before: ProvedNeed,
    /// The need with the fix.
    pub after: ProvedNeed,
}

/// The need of a program in a dry run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProvedNeed {
    /// The peak of allocated memory.
    pub peak_allocated_bytes: Bytes,
    /// The bytes that each iteration leaves behind; `None` without growth.
    pub growth_bytes: Option<Bytes>,
}

/// The confidence in a finding; the surest orders first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Certainty {
    /// The pattern stands in the file.
    #[default]
    Certain,
    /// The pattern shows when the program is followed through its calls and files.
    Likely,
    /// The same, where code that cannot be followed may undo the mistake.
    Possible,
}

/// A position in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LineColumn {
    /// The line, counted from 1.
    pub line: u32,
    /// The character of the line, counted from 1.
    pub column: u32,
}

/// A change of the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LintFix {
    /// Set if the program's results stay the same.
    pub is_safe: bool,
    /// The edits, in the order of the text, without overlaps.
    pub edits: Vec<LintEdit>,
}

/// The replacement of a range of text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LintEdit {
    /// The position of the first replaced character.
    pub start: LineColumn,
    /// The position after the last replaced character.
    pub end: LineColumn,
    /// The new text.
    pub text: String,
}

/// The source lines of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// Whole lines.
    pub text: String,
    /// The number of the first line.
    pub first_line: u32,
    /// The range of `text` that the finding marks, in bytes.
    pub span: Range<usize>,
}

/// A file that could not be linted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnreadableFile {
    /// The name of the file.
    pub file: String,
    /// The problem: found and expected.
    pub reason: String,
}

/// The documentation of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LintRule {
    /// The name.
    pub id: RuleId,
    /// The pattern in one line.
    pub summary: &'static str,
    /// The better code.
    pub help: &'static str,
    /// The rule's page, in Markdown.
    pub page: &'static str,
}
