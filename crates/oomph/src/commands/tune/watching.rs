//! A search as it is seen: a bar at a terminal, nothing in a log file, and Ctrl-C to end it with what it has.

use std::time::Duration;

use diagnose::Watch;
use indicatif::{ProgressBar, ProgressStyle};
use trace::Bytes;

use crate::interrupt;

/// Shows the search while it lives; Ctrl-C is for it then.
pub(super) struct Watching {
    bar: ProgressBar,
}

impl Watching {
    /// Begins.
    pub(super) fn start() -> Watching {
        let bar = ProgressBar::new(0);
        if let Ok(style) = ProgressStyle::with_template("{spinner} replaying {bar:24} {pos} of {len} {msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        interrupt::search_begins();
        Watching { bar }
    }
}

impl Watch for Watching {
    fn progress(&self, done: usize, planned: usize, least: Option<Bytes>) {
        self.bar.set_length(planned as u64);
        self.bar.set_position(done as u64);
        if let Some(least) = least {
            self.bar.set_message(format!("settings, {least} at best"));
        }
    }

    fn is_over(&self) -> bool {
        interrupt::came()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        interrupt::search_ends();
        self.bar.finish_and_clear();
    }
}
