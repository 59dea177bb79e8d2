//! Splits a stream into lines of a bounded length: a peer that never ends a line fills no memory.

use std::mem;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StreamLine {
    /// The bytes, without the end of the line.
    Whole(Vec<u8>),
    /// A line above the bound, whose bytes are dropped.
    TooLong,
}

/// Collects the bytes of a stream until the ends of its lines.
#[derive(Debug)]
pub(crate) struct LineSplitter {
    most: usize,
    line: Vec<u8>,
    is_dropped: bool,
}

impl LineSplitter {
    /// Begins a stream whose lines have at most `most` bytes.
    pub(crate) fn new(most: usize) -> LineSplitter {
        LineSplitter { most, line: Vec::new(), is_dropped: false }
    }

    /// Takes the next bytes of the stream, and returns the lines that end in them.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<StreamLine> {
        let mut lines = Vec::new();
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.extend(&rest[..end]);
            lines.push(self.end_line());
            rest = &rest[end + 1..];
        }
        self.extend(rest);
        lines
    }

    fn extend(&mut self, part: &[u8]) {
        self.is_dropped |= self.line.len() + part.len() > self.most;
        if self.is_dropped {
            self.line = Vec::new();
        } else {
            self.line.extend_from_slice(part);
        }
    }

    fn end_line(&mut self) -> StreamLine {
        if mem::take(&mut self.is_dropped) {
            return StreamLine::TooLong;
        }
        let mut line = mem::take(&mut self.line);
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        StreamLine::Whole(line)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MOST: usize = 8;

    fn split(chunks: &[Vec<u8>]) -> Vec<StreamLine> {
        let mut splitter = LineSplitter::new(MOST);
        let lines = chunks.iter().flat_map(|chunk| splitter.push(chunk)).collect();
        assert!(splitter.line.len() <= MOST, "the buffer is bounded");
        lines
    }

    #[test]
    fn a_line_ends_at_its_newline_and_a_long_one_is_dropped_alone() {
        let whole = |text: &str| StreamLine::Whole(text.as_bytes().to_vec());
        let cases: [(&[&str], Vec<StreamLine>); 6] = [
            (&[""], vec![]),
            (&["no end"], vec![]),
            (&["a\nb\n"], vec![whole("a"), whole("b")]),
            (&["on", "e\r", "\n\n"], vec![whole("one"), whole("")]),
            (&["12345678\n"], vec![whole("12345678")]),
            (&["1234", "56789", "0", "\nb\n"], vec![StreamLine::TooLong, whole("b")]),
        ];
        for (chunks, expected) in cases {
            let bytes: Vec<Vec<u8>> = chunks.iter().map(|chunk| chunk.as_bytes().to_vec()).collect();
            assert_eq!(split(&bytes), expected, "{chunks:?}");
        }
    }

    proptest! {
        #[test]
        fn the_lines_do_not_depend_on_the_chunks(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 0..200),
            size in 1_usize..40,
        ) {
            let chunks: Vec<Vec<u8>> = bytes.chunks(size).map(<[u8]>::to_vec).collect();
            prop_assert_eq!(split(&chunks), split(&[bytes]));
        }
    }
}
