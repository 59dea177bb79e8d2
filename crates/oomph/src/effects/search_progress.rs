//! The progress of a search. Ctrl-C ends the search with the best result so far.

use diagnose::{Trial, Variant, Watch};
use drive::cleanup::interrupt;
use report::render::named;
use trace::Bytes;

use crate::effects::progress::Progress;

/// Shows a search, and ends it at Ctrl-C, while this value lives.
pub(crate) struct SearchProgress(Progress);

impl SearchProgress {
    /// Begins a search by dry runs.
    pub(crate) fn of_runs() -> SearchProgress {
        interrupt::begin_search();
        SearchProgress(Progress::spin("{spinner} {pos} dry runs {elapsed:.dim} {msg}"))
    }

    /// Begins a search by replays.
    pub(crate) fn of_replays() -> SearchProgress {
        interrupt::begin_search();
        SearchProgress(Progress::fill("{spinner} replaying {bar:24} {pos} of {len} {msg}"))
    }

    /// Shows the result of a variant.
    pub(crate) fn show(&self, variant: &Variant, trial: &Trial) {
        let count = self.0.advance();
        let changes = if variant.is_unchanged() { "unchanged".to_owned() } else { named(&variant.changes) };
        let message = format!("{changes}: {}", trial.usage.device_bytes);
        self.0.log(|| format!("{count} dry runs, {message}"));
        self.0.set_message(message);
    }
}

impl Watch for SearchProgress {
    fn progress(&self, done: usize, planned: usize, least: Option<Bytes>) {
        self.0.set_counts(done as u64, planned as u64);
        if let Some(least) = least {
            self.0.set_message(format!("settings, {least} at best"));
        }
        self.0.log(|| format!("replayed {done} of {planned} settings"));
    }

    fn is_over(&self) -> bool {
        interrupt::has_come()
    }
}

impl Drop for SearchProgress {
    fn drop(&mut self) {
        interrupt::end_search();
    }
}
