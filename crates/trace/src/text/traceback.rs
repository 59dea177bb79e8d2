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

/// The traceback of one error.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Traceback {
    /// Innermost first.
    pub(super) frames: Vec<Frame>,
    /// Whether it was raised while another exception was handled.
    pub(super) while_handling: bool,
}

/// What Python prints between the tracebacks of such exceptions.
const WHILE_HANDLING: &str = "During handling of the above exception";
/// It stands so many lines above the head of the second, empty ones included.
const LINES_BETWEEN: usize = 3;

/// Heads the traceback of a worker or a replica whose error is raised again in its parent: that one's stands above
/// (`torch/_utils.py`, `ExceptionWrapper`, 1.3 and later).
const OF_A_WORKER: &str = "Original Traceback";

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
    /// Whether the traceback ended at the words for it.
    while_handling: bool,
}

impl Tracebacks {
    /// For a text of `length` bytes.
    pub(super) fn new(length: usize) -> Tracebacks {
        Tracebacks { budget: length.saturating_mul(8) }
    }

    /// The traceback above the error whose message starts at `at`.
    pub(super) fn above(&mut self, text: &[u8], at: usize) -> Traceback {
        let line_start = line::start(text, at);
        let own = line::origin(&text[line_start..at]);
        let mut reading = Reading::default();
        if let Some(escaped) = escaped_lines(&text[line_start..at]) {
            let mut above = escaped.iter().rev().skip(1).map(String::as_str);
            let is_whole = above.by_ref().any(|line| reading.take(line));
            return reading.finish(is_whole, above);
        }
        let mut lines = Above { text, end: line_start, floor: line_start.saturating_sub(MOST_BYTES.min(self.budget)) };
        let mut is_whole = false;
        for count in 0..MOST_LINES {
            if is_whole || (reading.frames.is_empty() && count > MOST_LINES_WITHOUT_FRAME) {
                break;
            }
            let Some(raw) = lines.next() else { break };
            self.budget = self.budget.saturating_sub(raw.len());
            is_whole = is_of(own, raw) && reading.take(&line::clean(raw));
        }
        let further = lines.filter(|raw| is_of(own, raw)).map(line::clean);
        reading.finish(is_whole, further)
    }
}

/// The lines above a place, upwards, down to a lowest byte.
struct Above<'a> {
    text: &'a [u8],
    end: usize,
    floor: usize,
}

impl<'a> Iterator for Above<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.end <= self.floor {
            return None;
        }
        let start = line::start(self.text, self.end - 1);
        let raw = &self.text[start..self.end];
        self.end = start;
        Some(raw)
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
            let is_outermost = !line.contains(OF_A_WORKER);
            if !is_outermost {
                self.sure.get_or_insert(self.frames.len());
            }
            return is_outermost;
        }
        if is_other_error(line) {
            self.while_handling = line.contains(WHILE_HANDLING);
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

    /// `further` are the lines above the last that was taken.
    fn finish<L: AsRef<str>>(mut self, is_whole: bool, further: impl Iterator<Item = L>) -> Traceback {
        if let (false, Some(sure)) = (is_whole, self.sure) {
            self.frames.truncate(sure);
        }
        let between = further.take(if is_whole { LINES_BETWEEN } else { 0 });
        let while_handling =
            self.while_handling || between.into_iter().any(|line| line.as_ref().contains(WHILE_HANDLING));
        Traceback { frames: self.frames, while_handling }
    }
}

/// Whether a line ends the traceback of an earlier error.
fn is_other_error(line: &str) -> bool {
    const ENDS: [&str; 3] = [WHILE_HANDLING, "was the direct cause of the following", " memory. Tried to allocate"];
    ENDS.iter().any(|end| line.contains(end))
}
