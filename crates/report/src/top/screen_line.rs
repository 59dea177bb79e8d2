//! A line of the view: a terminal shows its parts in colours, `--once` as text.

use super::words;

/// The weight of a part of a line. Without colours nothing is lost: words and signs say the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Ordinary text.
    Plain,
    /// A title.
    Title,
    /// Text of less weight.
    Quiet,
    /// The filled part of a bar.
    Bar,
    /// The filled part of a bar that is nearly full, and warnings.
    Alert,
}

/// A line: its parts, left to right. The texts are clean (Note `[Foreign text]` in `sanitize.rs`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScreenLine {
    /// The parts.
    pub parts: Vec<(Tone, String)>,
}

impl ScreenLine {
    pub(super) fn new(tone: Tone, text: impl Into<String>) -> ScreenLine {
        ScreenLine { parts: vec![(tone, text.into())] }
    }

    pub(super) fn push(&mut self, tone: Tone, text: impl Into<String>) {
        self.parts.push((tone, text.into()));
    }

    /// Cuts the line to so many cells.
    pub(super) fn cut(self, width: usize) -> ScreenLine {
        let mut room = width;
        let cut = |(tone, text): (Tone, String)| {
            let text = words::cut(&text, room);
            room -= words::width_of(&text).min(room);
            (tone, text)
        };
        ScreenLine { parts: self.parts.into_iter().map(cut).collect() }
    }

    /// The text without weights.
    pub fn text(&self) -> String {
        self.parts.iter().map(|(_, text)| text.as_str()).collect()
    }
}
