//! The Python traceback above an error, in the forms of Python, IPython, rich and pytest.
//!
//! # Note [Tracebacks are read backwards]
//! All forms print the innermost call last, next to the error. The lines above the error are therefore read upwards to
//! the head of the traceback. Lines of other ranks in between are skipped, by their prefixes. If the head is missing
//! (the log was cut off), the frames up to the first unrelated line are kept.

mod frame;

use memchr::memmem;

use self::frame::FrameLine;
use super::line::{self, Origin};
use crate::stack::Frame;

/// The longest traceback; Python itself shortens recursion.
const MOST_LINES: usize = 400;
/// The distance above an error after which no frame is expected. Many errors have no traceback.
const MOST_LINES_WITHOUT_FRAME: usize = 120;
const MOST_BYTES: usize = 64 << 10;

/// The bytes that tracebacks may read for each byte of the text above them.
const WORK: u64 = 8;
/// The bytes that tracebacks may read of the shortest text.
const FIRST_WORK: u64 = 16 << 20;

/// Reads the tracebacks of one text, with a limit on their total work: linear in the text, for any content.
#[derive(Default)]
pub(super) struct Tracebacks {
    /// The bytes that were read.
    work: u64,
}

/// The traceback of one error.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Traceback {
    /// Innermost first.
    pub(super) frames: Vec<Frame>,
    /// Set if the exception was raised while another was handled.
    pub(super) while_handling: bool,
}

/// Python's words between the tracebacks of such exceptions.
const WHILE_HANDLING: &str = "During handling of the above exception";
/// The number of lines from these words to the head of the second traceback, including empty lines.
const LINES_BETWEEN: usize = 3;

/// The head of the traceback of a worker or a replica whose error is raised again in its parent, below the parent's
/// traceback (`torch/_utils.py`, `ExceptionWrapper`, 1.3 and later).
const OF_A_WORKER: &str = "Original Traceback";

/// A traceback while it is read upwards.
#[derive(Default)]
struct Reading {
    frames: Vec<Frame>,
    /// The number of frames at the first unrelated line.
    sure: Option<usize>,
    /// The line number of an arrow whose frame is further up.
    arrow: Option<u32>,
    /// A frame whose path begins on the line above.
    broken: Option<Frame>,
    /// The line below, without borders.
    below: String,
    /// Set if the traceback ended at [`WHILE_HANDLING`].
    while_handling: bool,
}

impl Tracebacks {
    /// The traceback above the error whose message starts at `at` of a part of the text that starts at `base`.
    pub(super) fn above(&mut self, text: &[u8], at: usize, base: u64) -> Traceback {
        let line_start = line::start(text, at);
        let own = line::origin(&text[line_start..at]);
        let mut reading = Reading::default();
        if let Some(escaped) = escaped_lines(&text[line_start..at]) {
            let mut above = escaped.iter().rev().skip(1).map(String::as_str);
            let is_whole = above.by_ref().any(|line| reading.take(line));
            return reading.finish(is_whole, above);
        }
        let mut lines =
            Above { text, end: line_start, floor: line_start.saturating_sub(self.allowed(base + at as u64)) };
        let mut is_whole = false;
        for count in 0..MOST_LINES {
            if is_whole || (reading.frames.is_empty() && count > MOST_LINES_WITHOUT_FRAME) {
                break;
            }
            let Some(raw) = lines.next() else { break };
            self.work += raw.len() as u64;
            is_whole = is_of(own, raw) && reading.take(&line::clean(raw));
        }
        let further = lines.filter(|raw| is_of(own, raw)).map(line::clean);
        reading.finish(is_whole, further)
    }

    /// The bytes that the traceback of an error at this offset may read.
    fn allowed(&self, offset: u64) -> usize {
        let left = (FIRST_WORK + WORK.saturating_mul(offset)).saturating_sub(self.work);
        usize::try_from(left).unwrap_or(MOST_BYTES).min(MOST_BYTES)
    }
}

/// The lines above an offset, upwards, down to a lowest byte.
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

/// The lines of a traceback that a logger wrote on one line, with `\n` for line ends; `None` for other lines.
fn escaped_lines(line: &[u8]) -> Option<Vec<String>> {
    memmem::find(line, b"Traceback (most recent call last)")?;
    memmem::find(line, b"\\n")?;
    let text = line::clean(line);
    Some(text.split("\\n").map(|line| line.replace("\\\"", "\"").replace("\\\\", "\\")).collect())
}

/// Tests that a line belongs to the process of the error.
fn is_of(own: Origin, line: &[u8]) -> bool {
    let prefix = &line[..memmem::find(line, b"File \"").unwrap_or(line.len())];
    line::origin(prefix) == own
}

impl Reading {
    /// Reads the next line above; `true` at the head of the traceback.
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
            FrameLine::At(frame) => self.frames.push(frame),
            FrameLine::AtArrow(frame) => self.frames.push(Frame { line: self.arrow.take().unwrap_or(0), ..frame }),
            FrameLine::Broken(frame) => self.broken = Some(frame),
            FrameLine::Arrow(number) => self.arrow = Some(number),
            FrameLine::Nowhere if frame::is_of_traceback(line) => {}
            FrameLine::Nowhere => {
                self.sure.get_or_insert(self.frames.len());
            }
        }
    }

    /// Completes the traceback. `further` are the lines above the last line read.
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

/// Tests that a line ends the traceback of an earlier error.
fn is_other_error(line: &str) -> bool {
    const ENDS: [&str; 3] = [WHILE_HANDLING, "was the direct cause of the following", " memory. Tried to allocate"];
    ENDS.iter().any(|end| line.contains(end))
}
