//! What `lint` says of a program's source. In JSON the keys `version`, `findings`, `unreadable`, `files`, `hidden` and `fixed`.

use std::ops::Range;

use serde::Serialize;

use crate::finding::{Finding, RuleId};

/// Everything `lint` says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LintReport {
    /// oomph's version.
    pub version: String,
    /// File by file, in the order of the text.
    pub findings: Vec<LintFinding>,
    /// What could not be read as Python.
    pub unreadable: Vec<UnreadableFile>,
    /// How many files were looked at, those that could not be read among them.
    pub files: usize,
    /// How many findings the baseline hides.
    pub hidden: usize,
    /// How many findings were mended in the files.
    pub fixed: usize,
    /// What else is worth knowing, one sentence each.
    pub notes: Vec<String>,
    /// The rules that were asked.
    #[serde(skip)]
    pub rules: Vec<LintRule>,
    /// The folder that names of files are shown relative to.
    #[serde(skip)]
    pub folder: String,
}

/// A finding in a source file: the finding of all commands, and what only the source tells.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LintFinding {
    /// What all commands say of a finding.
    #[serde(flatten)]
    pub finding: Finding,
    /// The cell of a notebook, from 1; its lines are counted from the cell's first.
    pub cell: Option<u32>,
    /// The place after the last character, line and column from 1.
    pub end: LineColumn,
    /// The change that mends it.
    pub fix: Option<LintFix>,
    /// What the code is, as the reader knows it.
    #[serde(skip)]
    pub excerpt: Excerpt,
}

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct LineColumn {
    /// From 1.
    pub line: u32,
    /// The character of the line, from 1.
    pub column: u32,
}

/// A change of the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LintFix {
    /// Whether the program computes what it did before.
    pub is_safe: bool,
    /// In the order of the text; none overlaps another.
    pub edits: Vec<LintEdit>,
}

/// Text that becomes other text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LintEdit {
    /// The first character that is replaced.
    pub start: LineColumn,
    /// The place after the last one.
    pub end: LineColumn,
    /// What stands there then.
    pub text: String,
}

/// The lines that a finding is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// Whole lines.
    pub text: String,
    /// The number of the first.
    pub first_line: u32,
    /// The bytes of `text` that the finding is about.
    pub span: Range<usize>,
}

/// A file that could not be linted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnreadableFile {
    /// Its name.
    pub file: String,
    /// What was found in it, and what was expected.
    pub reason: String,
}

/// What a reader may want to know of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LintRule {
    /// Its name.
    pub id: RuleId,
    /// The pattern in one line.
    pub summary: &'static str,
    /// What to write instead.
    pub help: &'static str,
    /// Its page, in Markdown.
    pub page: &'static str,
}
