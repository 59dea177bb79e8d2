//! A text in pieces, in bounded memory.
//!
//! # Note [Windows]
//! An anchor is read together with the [`BEHIND`] bytes before its end and the [`AHEAD`] bytes after it, and with no
//! others. So the artifacts of a text do not depend on the lengths of its pieces. A traceback is within [`BEHIND`]
//! (`traceback.rs` reads 64 KiB, and no line is longer), a table within [`AHEAD`].

use super::artifact::Artifact;
use super::automaton::Hit;
use super::decode::Decoder;
use super::findings::Findings;
use super::reader::Reader;
use super::scan::{BLOCK, Scanner};
use super::{nvidia_smi, printed};

/// The bytes before the end of an anchor that are read.
const BEHIND: usize = 320 << 10;
/// The bytes after an anchor that are read.
const AHEAD: usize = 1 << 20;
/// The new bytes of a full window.
const STEP: usize = 1 << 20;

/// A part of a text.
#[derive(Clone, Copy)]
struct Window<'a> {
    bytes: &'a [u8],
    /// The offset in the text of its first byte.
    base: u64,
    /// Set if it ends with the text.
    is_last: bool,
}

/// The search for artifacts in the windows of a text.
#[derive(Default)]
struct AnchorSearch {
    scanner: Scanner,
    findings: Findings,
    /// The offset in the text up to which anchors were searched.
    searched: u64,
}

/// Reads a text that comes in pieces.
#[derive(Default)]
pub struct TextReader {
    decoder: Decoder,
    search: AnchorSearch,
    /// The text from `base` to the last piece.
    bytes: Vec<u8>,
    base: u64,
}

/// Finds everything in a text, decoded and whole.
pub(super) fn read(text: &[u8]) -> Vec<Artifact> {
    let window = Window { bytes: text, base: 0, is_last: true };
    let mut search = AnchorSearch::default();
    search.advance(window);
    search.finish(window)
}

impl TextReader {
    /// Reads the next piece.
    pub fn feed(&mut self, piece: &[u8]) {
        for part in piece.chunks(STEP) {
            self.decoder.decode(part, &mut self.bytes);
            if self.bytes.len() >= BEHIND + AHEAD + STEP {
                self.advance();
            }
        }
    }

    /// Finds everything in the text, in order.
    pub fn finish(mut self) -> Vec<Artifact> {
        self.decoder.finish(&mut self.bytes);
        let window = Window { bytes: &self.bytes, base: self.base, is_last: true };
        self.search.advance(window);
        self.search.finish(window)
    }

    fn advance(&mut self) {
        let window = Window { bytes: &self.bytes, base: self.base, is_last: false };
        let passed = self.search.advance(window).saturating_sub(BEHIND);
        self.search.findings.lines.number(&self.bytes, self.base, passed);
        self.bytes.drain(..passed);
        self.base += passed as u64;
    }
}

impl AnchorSearch {
    /// Reads all anchors whose surroundings are in `window`; returns the place up to which anchors were searched.
    fn advance(&mut self, window: Window<'_>) -> usize {
        let length = window.bytes.len();
        // One byte more tells whether the text goes on.
        let limit = if window.is_last { length } else { length.saturating_sub(AHEAD + 1) };
        let mut at = window.place(self.searched);
        while at < limit {
            let (hits, end) = self.scanner.scan(window.bytes, at..limit.min(at + BLOCK));
            for hit in hits {
                self.take(window, hit);
            }
            at = end;
        }
        self.searched = window.base + at as u64;
        at
    }

    fn take(&mut self, window: Window<'_>, hit: Hit) {
        let from = hit.end.saturating_sub(BEHIND);
        self.findings.lines.number(window.bytes, window.base, from);
        let near = window.part(from, hit.end.saturating_add(AHEAD));
        let reader = Reader::new(near.bytes, near.base, near.is_last, &mut self.findings);
        reader.take(Hit { end: hit.end - from, ..hit });
    }

    /// All artifacts. The last window is the whole text if the text is short.
    fn finish(self, last: Window<'_>) -> Vec<Artifact> {
        let mut artifacts = self.findings.finish();
        if last.base > 0 || artifacts.iter().any(|artifact| matches!(artifact, Artifact::Oom(_))) {
            return artifacts;
        }
        if artifacts.is_empty() {
            artifacts.extend(nvidia_smi::read_bare_list(last.bytes).map(Artifact::NvidiaSmi));
        }
        artifacts.extend(printed::read(last.bytes).map(Artifact::Printed));
        artifacts
    }
}

impl<'a> Window<'a> {
    /// The place in the window of an offset in the text.
    fn place(self, offset: u64) -> usize {
        usize::try_from(offset.saturating_sub(self.base)).unwrap_or(usize::MAX)
    }

    /// The part from one place to another, at most to the end.
    fn part(self, from: usize, to: usize) -> Window<'a> {
        let length = self.bytes.len();
        let bytes = self.bytes.get(from..to.min(length)).unwrap_or_default();
        Window { bytes, base: self.base + from as u64, is_last: self.is_last && to >= length }
    }
}
