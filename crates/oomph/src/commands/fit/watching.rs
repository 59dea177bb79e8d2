//! The progress of a search: at a terminal a line with the last result. Ctrl-C ends the search with the best so far.

use std::time::Duration;

use diagnose::{Trial, Variant};
use indicatif::{ProgressBar, ProgressStyle};
use report::render::named;

use crate::effects::interrupt;

/// Shows the search while this value lives.
pub(super) struct Watching {
    bar: ProgressBar,
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
        Watching { bar }
    }

    /// Shows the result of a variant.
    pub(super) fn show(&self, variant: &Variant, trial: &Trial) {
        self.bar.inc(1);
        let changes = if variant.is_unchanged() { "unchanged".to_owned() } else { named(&variant.changes) };
        self.bar.set_message(format!("{changes}: {}", trial.usage.device_bytes));
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        interrupt::end_search();
        self.bar.finish_and_clear();
    }
}
