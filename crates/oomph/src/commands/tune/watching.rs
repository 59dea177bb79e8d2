//! The progress of a search: a bar at a terminal, few lines in a log file. Ctrl-C ends the search with the best so far.

use std::time::Duration;

use diagnose::Watch;
use indicatif::{ProgressBar, ProgressStyle};
use trace::Bytes;

use crate::effects::interrupt;
use crate::log_lines::LogLines;

/// Shows the search while this value lives.
pub(super) struct Watching {
    bar: ProgressBar,
    lines: LogLines,
}

impl Watching {
    /// Begins.
    pub(super) fn start() -> Watching {
        let bar = ProgressBar::new(0);
        if let Ok(style) = ProgressStyle::with_template("{spinner} replaying {bar:24} {pos} of {len} {msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        interrupt::begin_search();
        Watching { bar, lines: LogLines::start() }
    }
}

impl Watch for Watching {
    fn progress(&self, done: usize, planned: usize, least: Option<Bytes>) {
        self.bar.set_length(planned as u64);
        self.bar.set_position(done as u64);
        if let Some(least) = least {
            self.bar.set_message(format!("settings, {least} at best"));
        }
        if self.bar.is_hidden() {
            self.lines.say(|| format!("replayed {done} of {planned} settings"));
        }
    }

    fn is_over(&self) -> bool {
        interrupt::has_come()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        interrupt::end_search();
        self.bar.finish_and_clear();
    }
}
