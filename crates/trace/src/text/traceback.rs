//! The Python traceback above an error, in the forms of Python, IPython, rich and pytest.
//!
//! # Note [Tracebacks are read backwards]
//! All forms print the innermost call last, next to the error. So the lines above the error are read upwards until the
//! head of the traceback. Lines of other ranks in between are passed over, by their prefixes. Where the head is missing
//! (the log was cut off), the frames up to the first line that belongs to no traceback are kept.

mod frame;

use memchr::memmem;

use self::frame::Place;
use super::line::{self, Origin};
use crate::stack::Frame;

/// No traceback is longer; Python itself shortens recursion.
const MOST_LINES: usize = 400;
/// An error without a traceback is common; this far above it no frame is expected any more.
const MOST_LINES_WITHOUT_FRAME: usize = 120;
const MOST_BYTES: usize = 64 << 10;

/// Reads tracebacks of one text, with a limit on the work for all of them together: linear in the text, whatever it holds.
pub(super) struct Tracebacks {
    budget: usize,
}

/// What has been read of one traceback, upwards.
#[derive(Default)]
struct Reading {
    frames: Vec<Frame>,
    /// How many frames there were at the first line that belongs to no traceback.
    sure: Option<usize>,
    /// The line number of an arrow whose frame stands further up.
    arrow: Option<u32>,
    /// A frame whose path begins on the line above.
    broken: Option<Frame>,
    /// The line below, without borders.
    below: String,
}

impl Tracebacks {
    /// For a text of `length` bytes.
    pub(super) fn new(length: usize) -> Tracebacks {
        Tracebacks { budget: length.saturating_mul(8) }
    }

    /// The frames above the error whose message starts at `at`, innermost first.
    pub(super) fn above(&mut self, text: &[u8], at: usize) -> Vec<Frame> {
        let line_start = line::start(text, at);
        let own = line::origin(&text[line_start..at]);
        let mut reading = Reading::default();
        if let Some(escaped) = escaped_lines(&text[line_start..at]) {
            let is_whole = escaped.iter().rev().skip(1).any(|line| reading.take(line));
            return reading.finish(is_whole);
        }
        let mut end = line_start;
        let floor = line_start.saturating_sub(MOST_BYTES.min(self.budget));
        let mut is_whole = false;
        for count in 0..MOST_LINES {
            if end <= floor || is_whole || (reading.frames.is_empty() && count > MOST_LINES_WITHOUT_FRAME) {
                break;
            }
            let start = line::start(text, end - 1);
            let raw = &text[start..end];
            self.budget = self.budget.saturating_sub(raw.len());
            end = start;
            if is_of(own, raw) {
                is_whole = reading.take(&line::clean(raw));
            }
        }
        reading.finish(is_whole)
    }
}

/// The lines of a traceback that a logger wrote on one line, with `\n` for the ends of lines; `None` for other lines.
fn escaped_lines(line: &[u8]) -> Option<Vec<String>> {
    memmem::find(line, b"Traceback (most recent call last)")?;
    memmem::find(line, b"\\n")?;
    let text = line::clean(line);
    Some(text.split("\\n").map(|line| line.replace("\\\"", "\"").replace("\\\\", "\\")).collect())
}

/// Whether a line is of the process whose error is read.
fn is_of(own: Origin, line: &[u8]) -> bool {
    let prefix = &line[..memmem::find(line, b"File \"").unwrap_or(line.len())];
    line::origin(prefix) == own
}

impl Reading {
    /// Takes the next line above; `true` where that is the head of the traceback.
    fn take(&mut self, line: &str) -> bool {
        if line.contains("Traceback (most recent call last)") {
            return true;
        }
        if is_other_error(line) {
            self.sure.get_or_insert(self.frames.len());
            return true;
        }
        let content = frame::without_border(line);
        self.take_frame(line, content);
        content.clone_into(&mut self.below);
        false
    }

    fn take_frame(&mut self, line: &str, content: &str) {
        if let Some(mut broken) = self.broken.take() {
            broken.file.insert_str(0, content);
            self.frames.push(broken);
            return;
        }
        match frame::parse(content, &self.below) {
            Place::At(frame) => self.frames.push(frame),
            Place::AtArrow(frame) => self.frames.push(Frame { line: self.arrow.take().unwrap_or(0), ..frame }),
            Place::Broken(frame) => self.broken = Some(frame),
            Place::Arrow(number) => self.arrow = Some(number),
            Place::Nowhere if frame::is_of_traceback(line) => {}
            Place::Nowhere => {
                self.sure.get_or_insert(self.frames.len());
            }
        }
    }

    fn finish(mut self, is_whole: bool) -> Vec<Frame> {
        if let (false, Some(sure)) = (is_whole, self.sure) {
            self.frames.truncate(sure);
        }
        self.frames
    }
}

/// Whether a line ends the traceback of an earlier error.
fn is_other_error(line: &str) -> bool {
    const ENDS: [&str; 3] = [
        "During handling of the above exception",
        "was the direct cause of the following",
        " memory. Tried to allocate",
    ];
    ENDS.iter().any(|end| line.contains(end))
}
