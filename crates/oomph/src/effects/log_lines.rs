//! Progress in a log file, where no line can be redrawn: one line after ten seconds, and one whenever twice the time has passed.

use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// The time after which a work counts as long.
const LONG_SECONDS: u64 = 10;

/// Writes the progress of a long work to standard error.
pub(crate) struct LogLines {
    started: Instant,
    schedule: Schedule,
}

impl LogLines {
    pub(crate) fn start() -> LogLines {
        LogLines { started: Instant::now(), schedule: Schedule::start() }
    }

    /// Writes the text with the elapsed time, if a line is due.
    pub(crate) fn say(&self, text: impl FnOnce() -> String) {
        let seconds = self.started.elapsed().as_secs();
        if self.schedule.is_due(seconds) {
            // Nobody reads a standard error that is closed.
            let _ = writeln!(anstream::stderr(), "oomph: {}, {seconds} s so far", text());
        }
    }
}

/// The elapsed times at which a line is due.
struct Schedule {
    next_seconds: AtomicU64,
}

impl Schedule {
    fn start() -> Schedule {
        Schedule { next_seconds: AtomicU64::new(LONG_SECONDS) }
    }

    fn is_due(&self, seconds: u64) -> bool {
        let is_due = seconds >= self.next_seconds.load(Ordering::Relaxed);
        if is_due {
            self.next_seconds.store(seconds * 2, Ordering::Relaxed);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_due_after_ten_seconds_and_at_twice_the_time() {
        let schedule = Schedule::start();
        let due: Vec<u64> = (0..200).filter(|seconds| schedule.is_due(*seconds)).collect();
        assert_eq!(due, [10, 20, 40, 80, 160]);
        assert!(schedule.is_due(1000));
        assert!(!schedule.is_due(1900), "a late line counts from when it was written");
    }
}
