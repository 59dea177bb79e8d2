//! What a rule says of a place, and the change that would mend it.

use report::lint::{LineColumn, LintEdit, LintFinding, LintFix};
use report::{Location, RuleId, Severity};

use crate::source::SourceFile;

/// What a mistake does to memory. Ordered: the worst comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// Memory grows with every step, without bound.
    Grows,
    /// More memory is held than the same work needs, or than the GPU it is meant for can give.
    Wastes,
    /// Nothing is lost today. Off unless asked for.
    Style,
}

impl Effect {
    /// How bad that is, in the words of the other commands.
    pub fn severity(self) -> Severity {
        match self {
            Effect::Grows => Severity::Error,
            Effect::Wastes => Severity::Warning,
            Effect::Style => Severity::Info,
        }
    }
}

/// A range of bytes of the linted text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A place as an editor counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The cell of a notebook, from 1, all kinds of cells counted; `None` in a Python file.
    pub cell: Option<u32>,
    /// The line from 1, in the cell if there is one.
    pub line: u32,
    /// The character of the line, from 1.
    pub column: u32,
}

/// Whether a fix may be made without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Applicability {
    /// The program computes what it did before.
    Safe,
    /// It may compute something else, or an intention had to be guessed.
    Unsafe,
}

/// Bytes that become other text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced; empty for an insertion.
    pub span: Span,
    /// By what.
    pub text: String,
}

/// A change of the text that removes a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// Whether it may be made without asking.
    pub applicability: Applicability,
    /// In the order of the text; none overlaps another.
    pub edits: Vec<Edit>,
}

/// A mistake that a rule found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which rule says so.
    pub rule: RuleId,
    /// What it does to memory.
    pub effect: Effect,
    /// The code it speaks of.
    pub span: Span,
    /// Where that begins.
    pub start: Position,
    /// Where that ends: the place after its last character.
    pub end: Position,
    /// What the code does and what it costs, in one sentence without a full stop.
    pub message: String,
    /// What to write instead, in a few words.
    pub help: &'static str,
    /// The change, if it can be written down.
    pub fix: Option<Fix>,
}

impl Finding {
    /// The same as people and other programs read it; `file` is the name they know the file by.
    pub fn report(&self, source: &SourceFile, file: &str) -> LintFinding {
        let file = self.start.cell.map_or_else(|| file.to_owned(), |cell| format!("{file}:cell {cell}"));
        LintFinding {
            finding: report::Finding {
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
            excerpt: source.excerpt(self.span),
        }
    }

    /// The cause that `check` and `explain` name when they see the mistake in a run.
    pub fn cause(&self) -> Option<&'static str> {
        crate::rules().iter().find(|rule| rule.id == self.rule)?.cause
    }

    /// What to write instead.
    pub fn remedy(&self) -> report::Remedy {
        let shown = self.cause().map_or_else(String::new, |cause| format!("; a run shows it as {cause}"));
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

impl From<Position> for LineColumn {
    fn from(position: Position) -> LineColumn {
        LineColumn { line: position.line, column: position.column }
    }
}
