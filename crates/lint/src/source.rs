//! Reads and parses a file. Only this module calls the parser; `semantics` and the rules work on the syntax tree.
//!
//! # Note [The tree]
//! `patch` copies ruff's tree into its own with thirty kinds of nodes, which is enough for edits. Rules need nearly the whole grammar of
//! Python; a copy of ninety kinds would be ruff's tree under other names. This crate therefore uses the types of `ruff_python_ast`, pinned
//! to an exact version; the cases of the rules show what an upgrade changes.
//!
//! # Note [Limits]
//! The depth is limited by Note [Depth of a tree] in `crates/python`, the size to 16 MiB. Larger files are generated data.

use std::borrow::Cow;

use report::lint::Excerpt;
use ruff_python_ast::ModModule;
use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{Mode, Parsed, parse_module};
use ruff_text_size::Ranged;
use thiserror::Error;

use crate::line_index::LineIndex;
use crate::notebook::{self, Cell};
use crate::span::{Position, TextSpan};

/// The reason why a file cannot be linted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unreadable {
    /// The file is not UTF-8.
    #[error("line {line} is not UTF-8; expected a Python file in UTF-8")]
    Encoding {
        /// The line of the first invalid byte, from 1.
        line: usize,
    },
    /// The file is not Python 3.
    #[error("{} is no Python: {message}", describe(*at))]
    Syntax {
        /// The position of the error.
        at: Position,
        /// The parser's message.
        message: String,
    },
    /// The syntax tree is deeper than that of hand-written code.
    #[error(transparent)]
    Depth(#[from] python::TooDeep),
    /// The file is larger than a hand-written one.
    #[error("the file has {bytes} bytes; expected at most 16777216")]
    Size {
        /// The size of the file.
        bytes: usize,
    },
    /// The file is no valid notebook.
    #[error("the notebook cannot be read: {0}")]
    Notebook(String),
}

fn describe(at: Position) -> String {
    at.cell.map_or_else(|| format!("line {}", at.line), |cell| format!("cell {cell}, line {}", at.line))
}

/// A Python file or a notebook, as text with its lines.
#[derive(Clone, Debug)]
pub struct SourceFile {
    text: String,
    /// The cells of a notebook; empty for a Python file.
    cells: Vec<Cell>,
    is_notebook: bool,
    lines: LineIndex,
}

impl SourceFile {
    /// Reads a Python file.
    pub fn python(bytes: &[u8]) -> Result<SourceFile, Unreadable> {
        check_size(bytes)?;
        let bytes = without_mark(bytes);
        let line = |valid: usize| 1 + memchr::memchr_iter(b'\n', bytes.get(..valid).unwrap_or_default()).count();
        let text =
            std::str::from_utf8(bytes).map_err(|error| Unreadable::Encoding { line: line(error.valid_up_to()) })?;
        Ok(SourceFile { lines: LineIndex::new(text), text: text.to_owned(), cells: Vec::new(), is_notebook: false })
    }

    /// Reads a Jupyter notebook as the Python of its cells, in order (Note `[Cells]` in `notebook.rs`).
    pub fn notebook(bytes: &[u8]) -> Result<SourceFile, Unreadable> {
        check_size(bytes)?;
        let (text, cells) = notebook::join(without_mark(bytes)).map_err(Unreadable::Notebook)?;
        Ok(SourceFile { lines: LineIndex::new(&text), text, cells, is_notebook: true })
    }

    /// The linted text, in which spans and edits count bytes; for a notebook, the joined cells.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the position of an offset.
    pub fn position(&self, offset: usize) -> Position {
        let line = self.lines.index(offset);
        let cell = self.cells.partition_point(|cell| cell.start <= offset).checked_sub(1);
        let cell = cell.and_then(|index| self.cells.get(index));
        let first = cell.map_or(0, |cell| self.lines.index(cell.start));
        let before = self.text.get(self.lines.start(line)..offset).unwrap_or_default();
        Position {
            cell: cell.map(|cell| cell.number),
            line: number(line - first),
            column: number(before.chars().count()),
        }
    }

    /// Returns the offset of the first line of the statement at an offset, and the indentation of that line. `None` for a file with a syntax
    /// error, and for a statement behind another one on its line.
    pub fn statement_line(&self, offset: usize) -> Option<(usize, &str)> {
        let statement = logical_start(&self.parse().ok()?, offset);
        let start = self.line_start(statement);
        let indentation = self.text.get(start..statement)?;
        indentation.trim().is_empty().then_some((start, indentation))
    }

    /// Returns the source lines of `span` for a report; only the first line of a long span.
    pub(crate) fn excerpt(&self, span: TextSpan) -> Excerpt {
        const MOST_LINES: usize = 6;
        let first = self.lines.index(span.start);
        let is_long = self.lines.index(span.end) - first >= MOST_LINES;
        let start = self.lines.start(first);
        let last = if is_long { span.start } else { span.end };
        let text = self.text.get(start..self.line_end(last)).unwrap_or_default().trim_end();
        let end = if is_long { text.len() } else { span.end - start };
        Excerpt {
            text: text.to_owned(),
            first_line: self.position(span.start).line,
            span: span.start - start..end.min(text.len()),
        }
    }

    /// Checks whether the file is a notebook. Edits of a notebook refer to the joined cells, not to the file.
    pub fn is_notebook(&self) -> bool {
        self.is_notebook
    }

    /// Returns the start of the line of an offset.
    pub(crate) fn line_start(&self, offset: usize) -> usize {
        self.lines.start(self.lines.index(offset))
    }

    /// Returns the end of the line of an offset: the start of the next line.
    pub(crate) fn line_end(&self, offset: usize) -> usize {
        let next = self.lines.start(self.lines.index(offset) + 1);
        if next > offset { next } else { self.text.len() }
    }

    /// Parses the text.
    pub(crate) fn parse(&self) -> Result<Parsed<ModModule>, Unreadable> {
        let text = if self.is_notebook {
            Cow::Owned(notebook::without_commands(&self.text))
        } else {
            Cow::Borrowed(&*self.text)
        };
        python::check_depth(&text, Mode::Module)?;
        parse_module(&text).map_err(|error| Unreadable::Syntax {
            at: self.position(error.location.start().to_usize()),
            message: error.error.to_string(),
        })
    }
}

/// Parses a text; `None` if it is no Python, or too deep.
pub(crate) fn parse_alone(text: &str) -> Option<Parsed<ModModule>> {
    python::check_depth(text, Mode::Module).ok()?;
    parse_module(text).ok()
}

/// Parses a text of checked depth behind `start` bytes of a comment, so that the offsets of its tree begin there.
pub(crate) fn parse_behind(start: usize, text: &str) -> Option<Parsed<ModModule>> {
    let padded = format!("#{}\n{text}", " ".repeat(start.checked_sub(2)?));
    parse_module(&padded).ok()
}

/// Converts an index from 0 to a number from 1.
fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1)
}

/// Removes the byte order mark that some editors write.
fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

fn check_size(bytes: &[u8]) -> Result<(), Unreadable> {
    const LARGEST: usize = 16 << 20;
    if bytes.len() > LARGEST { Err(Unreadable::Size { bytes: bytes.len() }) } else { Ok(()) }
}

/// Returns the comments of a parsed file.
pub(crate) fn comments(parsed: &Parsed<ModModule>) -> Vec<TextSpan> {
    let comments = parsed.tokens().iter().filter(|token| token.kind() == TokenKind::Comment);
    comments.map(TextSpan::of).collect()
}

/// Returns the start of the logical line of `offset`: the first token after the previous newline outside of brackets.
pub(crate) fn logical_start(parsed: &Parsed<ModModule>, offset: usize) -> usize {
    let tokens = parsed.tokens();
    let before = tokens.get(..tokens.partition_point(|token| token.end().to_usize() <= offset)).unwrap_or_default();
    let first = before.iter().rposition(|token| token.kind() == TokenKind::Newline).map_or(0, |index| index + 1);
    let is_word = |kind| {
        !matches!(kind, TokenKind::Comment | TokenKind::NonLogicalNewline | TokenKind::Indent | TokenKind::Dedent)
    };
    let word = tokens.get(first..).unwrap_or_default().iter().find(|token| is_word(token.kind()));
    word.map_or(offset, |token| token.start().to_usize().min(offset))
}

/// Returns the end of the logical line of `offset`: the next newline outside of brackets.
pub(crate) fn logical_end(parsed: &Parsed<ModModule>, offset: usize) -> usize {
    let tokens = parsed.tokens();
    let first = tokens.partition_point(|token| token.end().to_usize() <= offset);
    let rest = tokens.get(first..).unwrap_or_default();
    rest.iter().find(|token| token.kind() == TokenKind::Newline).map_or(offset, |token| token.start().to_usize())
}
