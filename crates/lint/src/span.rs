//! Positions in the linted text: byte ranges, and lines and columns.

use report::lint::LineColumn;
use ruff_text_size::Ranged;

/// A range of bytes of the linted text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextSpan {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl TextSpan {
    /// The span of an expression, a statement or a token.
    pub(crate) fn of(syntax: &impl Ranged) -> TextSpan {
        let range = syntax.range();
        TextSpan { start: range.start().to_usize(), end: range.end().to_usize() }
    }
}

/// A position as editors count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The cell of a notebook, counted from 1 over cells of all kinds; `None` in a Python file.
    pub cell: Option<u32>,
    /// The line from 1, within the cell if there is one.
    pub line: u32,
    /// The character of the line, from 1.
    pub column: u32,
}

impl From<Position> for LineColumn {
    fn from(position: Position) -> LineColumn {
        LineColumn { line: position.line, column: position.column }
    }
}
