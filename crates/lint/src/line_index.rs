//! Line numbers of byte offsets; lines end with `\n`, `\r\n` or `\r`.

/// The offsets at which the lines of a text begin.
#[derive(Clone, Debug)]
pub(crate) struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    pub(crate) fn new(text: &str) -> LineIndex {
        let bytes = text.as_bytes();
        let ends = memchr::memchr2_iter(b'\n', b'\r', bytes)
            .filter(|&at| bytes.get(at) == Some(&b'\n') || bytes.get(at + 1) != Some(&b'\n'));
        LineIndex { starts: std::iter::once(0).chain(ends.map(|at| at + 1)).collect() }
    }

    /// Returns the line of `offset`, from 0.
    pub(crate) fn index(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset).saturating_sub(1)
    }

    /// Returns the offset at which a line begins; the start of the last line for an index past the end.
    pub(crate) fn start(&self, index: usize) -> usize {
        self.starts.get(index).or(self.starts.last()).copied().unwrap_or(0)
    }
}
