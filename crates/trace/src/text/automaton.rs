//! Finds many strings in one pass over a text, regardless of blanks, wrapping and colours between their letters.
//!
//! # Note [Text without blanks]
//! People paste errors from terminals, and terminals break lines in the middle of a word. All searches therefore run on
//! the text *without its blanks*: `CUDA out of mem⏎ory` equals `CUDA out of memory`. The automaton keeps its state on
//! blanks, on bytes that are not ASCII (the borders of rich's boxes) and on terminal escapes, and ignores case. It
//! reads each byte once, so any log is read in linear time. Stretches without a string are left out (Note [Fragments]).

use std::collections::VecDeque;
use std::ops::Range;

/// A flag in a transition: a string ends here, or a terminal escape starts.
const LOOK: u32 = 1 << 31;
const NONE: u16 = u16::MAX;
pub(super) const ESCAPE: u8 = 0x1b;

/// The end of a found string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    /// The index of the string, the longest of those that end here.
    pub(super) pattern: usize,
    /// The offset after its last byte.
    pub(super) end: usize,
}

/// An Aho-Corasick automaton with an explicit table of transitions.
pub(super) struct Automaton {
    /// The column of each byte in `next`; column 0 for skipped bytes, column 1 for bytes in no string.
    columns: [u8; 256],
    width: usize,
    /// By state and column: the row of the next state, with [`LOOK`].
    next: Vec<u32>,
    /// By state: the longest string that ends there.
    found: Vec<u16>,
}

/// Strings as a tree of their letters, before failure links are computed.
struct LetterTree {
    width: usize,
    children: Vec<u32>,
    found: Vec<u16>,
}

impl Automaton {
    /// The automaton of `patterns`, in lower case without blanks.
    pub(super) fn new<'a>(patterns: impl Iterator<Item = &'a str> + Clone) -> Automaton {
        let (columns, width) = columns(patterns.clone());
        let mut tree = LetterTree { width, children: vec![0; width], found: vec![NONE] };
        for (number, pattern) in patterns.enumerate() {
            tree.insert(pattern.bytes().map(|byte| usize::from(columns[usize::from(byte)])), number);
        }
        let next = tree.link();
        Automaton { columns, width, next, found: tree.found }
    }

    /// All hits in `text`, in order.
    #[cfg(test)]
    fn hits<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = Hit> + 'a {
        self.hits_behind(b"", text, 0..text.len())
    }

    /// All hits that end in `span` of `text`, in order. `letters` are the significant bytes before `span`.
    pub(super) fn hits_behind<'a>(
        &'a self,
        letters: &[u8],
        text: &'a [u8],
        span: Range<usize>,
    ) -> impl Iterator<Item = Hit> + 'a {
        let mut row = letters.iter().fold(0, |row, &byte| (self.step(row, byte) & !LOOK) as usize);
        let mut at = span.start;
        std::iter::from_fn(move || {
            while at < span.end
                && let Some(&byte) = text.get(at)
            {
                let next = self.step(row, byte);
                at += 1;
                row = (next & !LOOK) as usize;
                if next & LOOK == 0 {
                    continue;
                }
                if byte == ESCAPE {
                    at += escape_length(&text[at - 1..]) - 1;
                    continue;
                }
                return Some(Hit { pattern: usize::from(self.found[row / self.width]), end: at });
            }
            None
        })
    }

    fn step(&self, row: usize, byte: u8) -> u32 {
        self.next[row + usize::from(self.columns[usize::from(byte)])]
    }
}

/// The length of the terminal escape that `text` starts with: `ESC [ … letter`, or `ESC` alone.
pub(super) fn escape_length(text: &[u8]) -> usize {
    const LONGEST: usize = 32;
    if text.get(1) != Some(&b'[') {
        return 1;
    }
    let parameters = text.iter().skip(2).take(LONGEST).take_while(|byte| (0x20..0x40).contains(*byte)).count();
    (2 + parameters + 1).min(text.len())
}

/// Tests that the automaton skips a byte.
pub(super) fn is_passed_over(byte: u8) -> bool {
    byte <= b' ' || byte >= 0x7f || byte == b'*'
}

fn columns<'a>(patterns: impl Iterator<Item = &'a str>) -> ([u8; 256], usize) {
    let mut columns = [1; 256];
    let mut width = 2;
    for byte in patterns.flat_map(str::bytes) {
        if columns[usize::from(byte)] == 1 {
            columns[usize::from(byte)] = width;
            columns[usize::from(byte.to_ascii_uppercase())] = width;
            width += 1;
        }
    }
    for byte in (0..=u8::MAX).filter(|&byte| is_passed_over(byte)) {
        columns[usize::from(byte)] = 0;
    }
    columns[usize::from(ESCAPE)] = width;
    (columns, usize::from(width) + 1)
}

impl LetterTree {
    fn insert(&mut self, pattern: impl Iterator<Item = usize>, number: usize) {
        let mut state = 0;
        for column in pattern {
            let place = state * self.width + column;
            if self.children[place] == 0 {
                self.children[place] = u32::try_from(self.found.len()).unwrap_or(0);
                self.children.resize(self.children.len() + self.width, 0);
                self.found.push(NONE);
            }
            state = self.children[place] as usize;
        }
        self.found[state] = u16::try_from(number).unwrap_or(NONE);
    }

    /// Computes all transitions, states nearest to the root first.
    fn link(&mut self) -> Vec<u32> {
        let states = self.found.len();
        let mut goto = vec![0_usize; states * self.width];
        let mut fallback = vec![0_usize; states];
        let mut queue = VecDeque::from([0]);
        while let Some(state) = queue.pop_front() {
            if self.found[state] == NONE {
                self.found[state] = self.found[fallback[state]];
            }
            for column in 0..self.width {
                let child = self.children[state * self.width + column] as usize;
                let elsewhere = if state == 0 { 0 } else { goto[fallback[state] * self.width + column] };
                goto[state * self.width + column] = if child == 0 { elsewhere } else { child };
                if child != 0 {
                    fallback[child] = elsewhere;
                    queue.push_back(child);
                }
            }
        }
        (0..goto.len()).map(|place| self.transition(&goto, place)).collect()
    }

    fn transition(&self, goto: &[usize], place: usize) -> u32 {
        let (state, column) = (place / self.width, place % self.width);
        let is_escape = column == self.width - 1;
        let next = if column == 0 || is_escape { state } else { goto[place] };
        let look = is_escape || (column != 0 && self.found[next] != NONE);
        u32::try_from(next * self.width).unwrap_or(0) | if look { LOOK } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(patterns: &[&str], text: &str, expected: &[(&str, usize)]) {
        let automaton = Automaton::new(patterns.iter().copied());
        let found: Vec<_> = automaton.hits(text.as_bytes()).map(|hit| (patterns[hit.pattern], hit.end)).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn strings_are_found_through_blanks_wrapping_boxes_colours_and_case() {
        let patterns = ["outofmemory", "killed"];
        check(&patterns, "CUDA out of memory.", &[("outofmemory", 18)]);
        check(&patterns, "out of mem\r\n   ory", &[("outofmemory", 18)]);
        check(&patterns, "out │\n│ of memory", &[("outofmemory", 21)]);
        check(&patterns, "\u{1b}[31mout of \u{1b}[0mMEMORY\u{1b}[", &[("outofmemory", 22)]);
        check(&patterns, "kikilled out oof memory", &[("killed", 8)]);
    }

    #[test]
    fn the_longest_of_the_strings_that_end_together_is_found_and_shorter_ones_before_it() {
        let patterns = ["memory", "outofmemory", "memoryerror", "of"];
        check(&patterns, "out of memory error", &[("of", 6), ("outofmemory", 13), ("memoryerror", 19)]);
        check(&patterns, "the memory", &[("memory", 10)]);
    }
}
