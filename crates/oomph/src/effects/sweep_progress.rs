//! The progress of a sweep: how many configurations are known, and how long the others may take.

use std::time::Instant;

use report::sweep::SweepPoint;
use report::words::grouped;

use crate::effects::progress::Progress;
use crate::effects::run_progress::clear;

/// Shows a sweep, while this value lives.
pub(crate) struct SweepProgress {
    shown: Progress,
    started: Instant,
    whole: u64,
}

impl SweepProgress {
    /// Begins a sweep of `whole` configurations.
    pub(crate) fn start(whole: u64) -> SweepProgress {
        clear();
        let progress = Progress::fill("{spinner} {bar:24} {pos} of {len} configurations, {msg}");
        progress.set_counts(0, whole);
        progress.set_message("the first is prepared".to_owned());
        progress.log(|| format!("0 of {} configurations", grouped(whole)));
        SweepProgress { shown: progress, started: Instant::now(), whole }
    }

    /// Shows that a configuration is known.
    pub(crate) fn advance(&self, point: &SweepPoint) {
        self.shown.advance();
        let done = self.shown.position();
        let left = self.started.elapsed().as_secs_f64() / done.max(1) as f64 * self.whole.saturating_sub(done) as f64;
        let need = point.need_bytes.map_or_else(|| "fails".to_owned(), |need| format!("needs {need}"));
        self.shown.set_message(format!("{} left; the last {need}", words_of_time(left)));
        self.shown.log(|| {
            format!("{} of {} configurations, {} left", grouped(done), grouped(self.whole), words_of_time(left))
        });
    }
}

fn words_of_time(seconds: f64) -> String {
    if seconds < 120.0 { format!("{seconds:.0} s") } else { format!("{:.0} min", seconds / 60.0) }
}
