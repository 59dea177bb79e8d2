//! The progress of a search. A request to end ends the search with the best result so far.

use std::sync::Arc;

use base::interrupt;
use diagnose::{Trial, Variant, Watch};
use trace::Bytes;

use crate::effects::progress::Progress;
use crate::effects::run_progress::{clear, name, show_search};

/// Shows a search, while this value lives.
pub(crate) struct SearchProgress(Arc<Progress>);

impl SearchProgress {
    /// Begins a search by dry runs.
    pub(crate) fn of_runs() -> SearchProgress {
        let progress = Arc::new(Progress::spin("{spinner} {pos} dry runs {elapsed:.dim} {msg}"));
        progress.log(|| "the first dry run is prepared".to_owned());
        show_search(&progress);
        SearchProgress(progress)
    }

    /// Begins a search by replays.
    pub(crate) fn of_replays() -> SearchProgress {
        clear();
        SearchProgress(Arc::new(Progress::fill("{spinner} replaying {bar:24} {pos} of {len} {msg}")))
    }

    /// Shows the result of a variant.
    pub(crate) fn show(&self, variant: &Variant, trial: &Trial) {
        self.0.advance();
        let message = format!("{}: {}", name(variant), trial.usage.device_bytes);
        self.0.log(|| format!("{}, {message}", self.0.count_runs()));
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
        clear();
    }
}
