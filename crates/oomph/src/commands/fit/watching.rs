//! The progress of a search: at a terminal a line with the last result, in a log file few lines. Ctrl-C ends the search with the best so far.

use std::time::Duration;

use diagnose::{Trial, Variant};
use indicatif::{ProgressBar, ProgressStyle};
use report::render::named;

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
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {pos} dry runs {elapsed:.dim} {msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        interrupt::begin_search();
        Watching { bar, lines: LogLines::start() }
    }

    /// Shows the result of a variant.
    pub(super) fn show(&self, variant: &Variant, trial: &Trial) {
        self.bar.inc(1);
        let changes = if variant.is_unchanged() { "unchanged".to_owned() } else { named(&variant.changes) };
        let message = format!("{changes}: {}", trial.usage.device_bytes);
        if self.bar.is_hidden() {
            self.lines.say(|| format!("{} dry runs, {message}", self.bar.position()));
        }
        self.bar.set_message(message);
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        interrupt::end_search();
        self.bar.finish_and_clear();
    }
}
