//! Progress on standard error: a line or a bar at a terminal, few lines in a log file.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use report::words::count;

use crate::audience;
use crate::effects::log_lines::LogLines;

/// The time between two pictures of a spinner.
const TICK: Duration = Duration::from_millis(100);
/// The time before the bar of a read appears.
const A_WHILE: Duration = Duration::from_millis(300);

/// The progress of a long work, shown while this value lives.
pub(crate) struct Progress {
    bar: ProgressBar,
    /// `None` at a terminal, and for a coding agent.
    lines: Option<LogLines>,
}

impl Progress {
    /// Shows a spinner. `template` is one of indicatif's.
    pub(crate) fn spin(template: &str) -> Progress {
        Progress::start(ProgressBar::new_spinner(), template)
    }

    /// Shows a bar without a length so far.
    pub(crate) fn fill(template: &str) -> Progress {
        Progress::start(ProgressBar::new(0), template)
    }

    fn start(bar: ProgressBar, template: &str) -> Progress {
        if audience::is_agent() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
            return Progress { bar, lines: None };
        }
        set_template(&bar, template);
        bar.enable_steady_tick(TICK);
        let lines = bar.is_hidden().then(LogLines::start);
        Progress { bar, lines }
    }

    /// Shows a text at a terminal, and now and then in a log file.
    pub(crate) fn say(&self, text: String) {
        match &self.lines {
            Some(lines) => lines.set(text),
            None => self.bar.set_message(text),
        }
    }

    /// Shows a message at a terminal.
    pub(crate) fn set_message(&self, message: String) {
        self.bar.set_message(message);
    }

    /// Writes a line to a log file now and then.
    pub(crate) fn log(&self, text: impl FnOnce() -> String) {
        if let Some(lines) = &self.lines {
            lines.set(text());
        }
    }

    /// Prints beside the line.
    pub(crate) fn suspend(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
    }

    /// The number of steps done.
    pub(crate) fn position(&self) -> u64 {
        self.bar.position()
    }

    /// Moves the position by one.
    pub(crate) fn advance(&self) {
        self.bar.inc(1);
    }

    /// `3 dry runs`, by the position.
    pub(crate) fn count_runs(&self) -> String {
        count(self.bar.position(), "dry run", "dry runs")
    }

    /// Sets the position and the length of a bar.
    pub(crate) fn set_counts(&self, done: u64, planned: u64) {
        self.bar.set_length(planned);
        self.bar.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The progress of a read, which appears only at a terminal and only for long reads.
pub(crate) struct ReadProgress {
    bar: ProgressBar,
    since: Instant,
    is_shown: bool,
}

impl ReadProgress {
    /// Begins a read. `length`: the size of the input in bytes; `None` if unknown.
    pub(crate) fn start(name: &str, length: Option<u64>) -> ReadProgress {
        let bar = length.map_or_else(ProgressBar::no_length, ProgressBar::new);
        bar.set_draw_target(ProgressDrawTarget::hidden());
        set_template(
            &bar,
            if length.is_some() { "{msg} {bar:24} {bytes} of {total_bytes}" } else { "{spinner} {msg} {bytes}" },
        );
        bar.set_message(format!("reading {}", name.escape_debug()));
        ReadProgress { bar, since: Instant::now(), is_shown: false }
    }

    /// Moves the position by `count` bytes.
    pub(crate) fn advance(&mut self, count: usize) {
        self.bar.inc(count as u64);
        if !self.is_shown && self.since.elapsed() > A_WHILE && !audience::is_agent() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.is_shown = true;
        }
    }

    /// Sets the position, in bytes.
    pub(crate) fn seek(&self, position: u64) {
        self.bar.set_position(position);
    }
}

impl Drop for ReadProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Sets a template. A template with an error leaves indicatif's default.
fn set_template(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
}
