//! The writer of terminal reports: width, decorations and line breaks.

use anstyle::Style;

use super::{Bars, Look, Styles};
use crate::finding::Location;
use crate::render::layout::{COLUMNS, CONTINUED, break_command, keep_start, line_of, short_path, wrap};
use crate::sanitize::{clean, columns};

/// The columns before the text of a fact.
const FACT: usize = 11;
/// A command of more lines is named, and not written out.
const COMMAND_LINES: usize = 3;
/// The width of a full bar, in columns.
const BAR: u64 = 24;

/// An unfinished report.
pub(super) struct Page<'a> {
    text: String,
    look: Look,
    folder: &'a str,
}

impl<'a> Page<'a> {
    /// An empty page whose paths are relative to `folder`.
    pub(super) fn new(look: Look, folder: &'a str) -> Page<'a> {
        Page { text: String::new(), look, folder }
    }

    /// The decorations.
    pub(super) fn styles(&self) -> Styles {
        self.look.styles
    }

    /// The folder for relative paths.
    pub(super) fn folder(&self) -> &'a str {
        self.folder
    }

    /// Returns the finished text.
    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Writes a line, cut at the page width, without trailing spaces.
    pub(super) fn line(&mut self, line: &str) {
        self.push(keep_start(line, COLUMNS).trim_end());
    }

    /// Writes a line with decorated text after a plain start.
    pub(super) fn styled_line(&mut self, start: &str, text: &str, style: Style) {
        let start = keep_start(start, COLUMNS);
        let text = keep_start(text, COLUMNS.saturating_sub(columns(&start)));
        self.push(&(start + &decorated(&text, style)));
    }

    /// Appends clean text (Note [Foreign text]); every other method ends here.
    fn push(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Writes an empty line and the heading of a section.
    pub(super) fn heading(&mut self, heading: &str) {
        self.line("");
        let style = self.look.styles.heading;
        for line in wrap(heading, COLUMNS) {
            self.styled_line("", &line, style);
        }
    }

    /// Writes `text` in lines; the first line follows `first`, the other lines are indented by its width.
    pub(super) fn paragraph(&mut self, first: &str, text: &str) {
        self.styled_paragraph(first, text, Style::new());
    }

    /// Writes a paragraph with decorated text and a plain indent.
    pub(super) fn styled_paragraph(&mut self, first: &str, text: &str, style: Style) {
        let first = keep_start(first, COLUMNS / 2);
        let indent = columns(&first);
        let mut start = first;
        for line in wrap(text, COLUMNS - indent) {
            self.styled_line(&start, &line, style);
            start = " ".repeat(indent);
        }
    }

    /// Writes a line to be copied, which is never cut.
    pub(super) fn copied(&mut self, start: &str, line: &str) {
        self.push(&format!("{start}{}", clean(line)));
    }

    /// Writes a command to be copied, in lines that a shell reads as one; `instead` of a command of many lines. A long word is not cut.
    pub(super) fn command(&mut self, start: &str, words: &[String], instead: &str) {
        let indent = columns(start);
        let lines = break_command(words, COLUMNS - indent - CONTINUED.len());
        if lines.len() > COMMAND_LINES {
            return self.paragraph(start, instead);
        }
        self.push(&format!("{start}{}", lines.join(&format!("{CONTINUED}\n{}", " ".repeat(indent)))));
    }

    /// Writes a named figure, e.g. `  peak       12.00 GiB on the device`.
    pub(super) fn fact(&mut self, name: &str, text: &str) {
        self.paragraph(&format!("  {name:<9}"), text);
    }

    /// The number of lines so far.
    pub(super) fn lines(&self) -> usize {
        self.text.lines().count()
    }

    /// A bar for `permille` of a whole.
    pub(super) fn bar(&self, permille: u64) -> String {
        let eighths = permille * BAR * 8 / 1000;
        let full = usize::try_from(eighths / 8).unwrap_or_default();
        match self.look.bars {
            Bars::Ascii => "#".repeat(full),
            Bars::Unicode => "█".repeat(full) + rest_of_bar(eighths % 8),
        }
    }

    /// The shortest clear form of `file`.
    pub(super) fn path<'p>(&self, file: &'p str) -> &'p str {
        short_path(file, self.folder)
    }

    /// `train.py:41`.
    pub(super) fn line_of(&self, location: &Location) -> String {
        line_of(location, self.folder)
    }
}

/// The number of lines that [`Page::fact`] writes of `text`.
pub(super) fn lines_of_fact(text: &str) -> usize {
    wrap(text, COLUMNS - FACT).len()
}

fn rest_of_bar(eighths: u64) -> &'static str {
    match eighths {
        1 => "▏",
        2 => "▎",
        3 => "▍",
        4 => "▌",
        5 => "▋",
        6 => "▊",
        7 => "▉",
        _ => "",
    }
}

/// `text` between the escapes of `style`; `text` alone for a plain style.
fn decorated(text: &str, style: Style) -> String {
    format!("{style}{text}{style:#}")
}
