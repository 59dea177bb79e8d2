//! Finds the anchors of a text, block by block.

use std::ops::Range;

use memchr::memchr;

use super::anchor::AUTOMATON;
use super::automaton::{ESCAPE, Hit, escape_length, is_passed_over};
use super::fragment::GRAMS;

/// The bytes that are searched at once: as many as the nearest cache holds beside the tables.
pub(super) const BLOCK: usize = 16 << 10;
/// The longest anchor has fewer letters.
const MOST_LETTERS: usize = 64;

/// The search for anchors in a text that is read from its start to its end.
#[derive(Default)]
pub(super) struct Scanner {
    /// The last significant bytes before the block, then those of the block.
    letters: Vec<u8>,
    /// The number of letters in use.
    count: usize,
}

impl Scanner {
    /// Finds the anchors that end in `block` of `text`; returns them, and the end of the block. It is later than
    /// `block.end` if a terminal escape ends later.
    pub(super) fn scan(&mut self, text: &[u8], block: Range<usize>) -> (Vec<Hit>, usize) {
        let known = self.keep_last();
        let end = self.push(text, block.clone());
        let letters = &self.letters[..self.count];
        if !GRAMS.is_anchor_in(letters, known) {
            return (Vec::new(), end);
        }
        (AUTOMATON.hits_behind(&letters[..known], text, block.start..end).collect(), end)
    }

    /// Drops all letters but the last; returns their number.
    fn keep_last(&mut self) -> usize {
        let from = self.count.saturating_sub(MOST_LETTERS);
        self.letters.copy_within(from..self.count, 0);
        self.count -= from;
        self.count
    }

    /// Appends the significant bytes of a block; returns its end.
    fn push(&mut self, text: &[u8], block: Range<usize>) -> usize {
        self.letters.resize(self.letters.len().max(self.count + block.len()), 0);
        let mut at = block.start;
        while let Some(span) = text.get(at..block.end).filter(|span| !span.is_empty()) {
            let escape = memchr(ESCAPE, span);
            let plain = &span[..escape.unwrap_or(span.len())];
            self.count += copy_letters(plain, &mut self.letters[self.count..]);
            at += plain.len() + escape.map_or(0, |length| escape_length(&text[at + length..]));
        }
        at
    }
}

/// Copies the significant bytes of `span`; returns their number. Without a branch on the bytes: words end at random.
fn copy_letters(span: &[u8], letters: &mut [u8]) -> usize {
    let mut count = 0;
    for &byte in span {
        letters[count] = byte;
        count += usize::from(!is_passed_over(byte));
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the hits of blocks of every length with those of the automaton over the whole text.
    fn check(text: &str) {
        let text = text.as_bytes();
        let expected: Vec<Hit> = AUTOMATON.hits_behind(b"", text, 0..text.len()).collect();
        for length in 1..=text.len() {
            let (mut scanner, mut at, mut found) = (Scanner::default(), 0, Vec::new());
            while at < text.len() {
                let (hits, end) = scanner.scan(text, at..text.len().min(at + length));
                found.extend(hits);
                at = end;
            }
            assert_eq!(found, expected, "{:?} in blocks of {length}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn anchors_are_found_across_the_ends_of_blocks() {
        check("CUDA out of memory. CUDA error: out of memory");
        check("step 1\nKil\u{1b}[0mled\n\u{1b}[31mout \u{1b}of\u{1b}[1;2mmemory\u{1b}[");
        check("java.lang.OutOfMemoryError │\n│ std::bad│alloc NVSMI\u{7f}LOG .all.current: driver version:");
        check("cublas_status_not_initialized when calling `cublasCreate(handle)` memory.used [MiB]");
    }
}
