//! Lines as Python counts them: ended by `\n`, `\r\n` or `\r`, numbered from 1.

use crate::syntax::Span;

/// The starts of a text's lines.
#[derive(Debug)]
pub(crate) struct Lines {
    starts: Vec<usize>,
    end: usize,
}

impl Lines {
    pub(crate) fn new(text: &str) -> Lines {
        let bytes = text.as_bytes();
        let ends_line = |index: usize| match bytes.get(index) {
            Some(b'\n') => true,
            Some(b'\r') => bytes.get(index + 1) != Some(&b'\n'),
            _ => false,
        };
        let starts =
            std::iter::once(0).chain((0..bytes.len()).filter(|&index| ends_line(index)).map(|index| index + 1));
        Lines { starts: starts.collect(), end: bytes.len() }
    }

    /// The number of the line that `offset` is on.
    pub(crate) fn line_at(&self, offset: usize) -> u32 {
        u32::try_from(self.starts.partition_point(|&start| start <= offset)).unwrap_or(u32::MAX)
    }

    /// The number of lines.
    pub(crate) fn count(&self) -> u32 {
        let ends_in_break = self.starts.last() == Some(&self.end);
        u32::try_from(self.starts.len() - usize::from(ends_in_break)).unwrap_or(u32::MAX)
    }

    /// The line with its line break; of a number that no line has, nothing at the end.
    pub(crate) fn span(&self, line: u32) -> Span {
        let start_of =
            |line: usize| line.checked_sub(1).and_then(|index| self.starts.get(index)).copied().unwrap_or(self.end);
        let line = line as usize;
        Span::new(start_of(line), start_of(line + 1))
    }

    /// The start of the line of `offset`.
    pub(crate) fn start(&self, offset: usize) -> usize {
        self.span(self.line_at(offset)).start
    }

    /// The start of the line after the line of `offset`.
    pub(crate) fn next(&self, offset: usize) -> usize {
        self.span(self.line_at(offset)).end
    }
}
