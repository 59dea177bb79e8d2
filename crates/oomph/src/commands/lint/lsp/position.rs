//! Positions of the protocol: a line, and the units of an encoding before a character.

use lsp_types::{Position, PositionEncodingKind, Range};

/// The unit of columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum PositionEncoding {
    Utf8,
    /// The encoding of clients that offer none.
    #[default]
    Utf16,
    Utf32,
}

impl PositionEncoding {
    /// Chooses among the encodings that a client offers. A Rust text is UTF-8.
    pub(super) fn choose(offered: &[PositionEncodingKind]) -> PositionEncoding {
        let offers = |encoding: PositionEncoding| offered.contains(&encoding.kind()).then_some(encoding);
        offers(PositionEncoding::Utf8).or_else(|| offers(PositionEncoding::Utf32)).unwrap_or_default()
    }

    /// The protocol's name.
    pub(super) fn kind(self) -> PositionEncodingKind {
        match self {
            PositionEncoding::Utf8 => PositionEncodingKind::UTF8,
            PositionEncoding::Utf16 => PositionEncodingKind::UTF16,
            PositionEncoding::Utf32 => PositionEncodingKind::UTF32,
        }
    }

    fn units(self, letter: char) -> usize {
        match self {
            PositionEncoding::Utf8 => letter.len_utf8(),
            PositionEncoding::Utf16 => letter.len_utf16(),
            PositionEncoding::Utf32 => 1,
        }
    }
}

/// The lines of a text, which end with `\n`, `\r\n` or `\r`.
#[derive(Debug)]
pub(super) struct LineTable<'a> {
    text: &'a str,
    starts: Vec<usize>,
    encoding: PositionEncoding,
}

impl<'a> LineTable<'a> {
    pub(super) fn new(text: &'a str, encoding: PositionEncoding) -> LineTable<'a> {
        let bytes = text.as_bytes();
        let is_end = |at: &usize| bytes[*at] == b'\n' || bytes[*at] == b'\r' && bytes.get(at + 1) != Some(&b'\n');
        let ends = (0..bytes.len()).filter(is_end);
        LineTable { text, starts: std::iter::once(0).chain(ends.map(|at| at + 1)).collect(), encoding }
    }

    /// The position of an offset in bytes.
    pub(super) fn position(&self, offset: usize) -> Position {
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let before = self.text.get(self.starts[line]..offset).unwrap_or_default();
        Position { line: number(line), character: number(before.chars().map(|it| self.encoding.units(it)).sum()) }
    }

    /// The range of a span in bytes.
    pub(super) fn range(&self, span: std::ops::Range<usize>) -> Range {
        Range { start: self.position(span.start), end: self.position(span.end) }
    }

    /// The offset of a position; behind the end of a line, its end.
    pub(super) fn offset(&self, position: Position) -> usize {
        let Some(&start) = self.starts.get(position.line as usize) else { return self.text.len() };
        let line = self.text[start..].split(['\n', '\r']).next().unwrap_or_default();
        let mut left = position.character as usize;
        let fits = |(_, letter): &(usize, char)| {
            let rest = left.checked_sub(self.encoding.units(*letter));
            left = rest.unwrap_or_default();
            rest.is_some()
        };
        line.char_indices().take_while(fits).last().map_or(start, |(at, letter)| start + at + letter.len_utf8())
    }
}

fn number(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a\r\nü🔥b\n\rend";

    #[test]
    fn offsets_and_positions_are_inverse() {
        // The byte offset of `b`, and its column in each encoding.
        let columns = [(PositionEncoding::Utf8, 6), (PositionEncoding::Utf16, 3), (PositionEncoding::Utf32, 2)];
        for (encoding, character) in columns {
            let lines = LineTable::new(TEXT, encoding);
            assert_eq!(lines.position(9), Position { line: 1, character }, "{encoding:?}");
            assert_eq!(lines.offset(Position { line: 1, character }), 9, "{encoding:?}");
        }
        for (offset, _) in TEXT.char_indices().filter(|(_, letter)| *letter != '\n') {
            let lines = LineTable::new(TEXT, PositionEncoding::Utf16);
            assert_eq!(lines.offset(lines.position(offset)), offset);
        }
    }

    #[test]
    fn positions_outside_of_the_text_are_at_its_ends() {
        let lines = LineTable::new(TEXT, PositionEncoding::Utf16);
        let cases = [((0, 9), 1), ((1, 99), 10), ((2, 0), 11), ((3, 99), TEXT.len()), ((99, 0), TEXT.len())];
        for ((line, character), expected) in cases {
            assert_eq!(lines.offset(Position { line, character }), expected, "{line}:{character}");
        }
        // The middle of a pair of surrogates.
        assert_eq!(lines.offset(Position { line: 1, character: 2 }), 5);
    }

    #[test]
    fn the_encoding_is_one_that_the_client_offers() {
        let (utf8, utf16, utf32) =
            (PositionEncoding::Utf8.kind(), PositionEncoding::Utf16.kind(), PositionEncoding::Utf32.kind());
        let cases = [
            (vec![], PositionEncoding::Utf16),
            (vec![utf16.clone()], PositionEncoding::Utf16),
            (vec![utf16.clone(), utf8], PositionEncoding::Utf8),
            (vec![utf32, utf16], PositionEncoding::Utf32),
        ];
        for (offered, expected) in cases {
            assert_eq!(PositionEncoding::choose(&offered), expected, "{offered:?}");
        }
    }
}
