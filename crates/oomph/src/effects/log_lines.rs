//! Progress in a log file, where no line can be redrawn: one line after ten seconds, and one whenever twice the time has passed. A thread writes them,
//! whatever the work is busy with.

use std::io::Write as _;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The time after which a work counts as long.
const LONG_SECONDS: u64 = 10;

/// Writes the progress of a long work to standard error, while this value lives.
pub(crate) struct LogLines {
    text: Arc<Mutex<String>>,
    /// Dropped with this value.
    _working: Sender<()>,
}

impl LogLines {
    pub(crate) fn start() -> LogLines {
        let (working, end) = channel();
        let text = Arc::default();
        let shared = Arc::clone(&text);
        // Without the thread no line is written, and the work goes on.
        let _thread = thread::Builder::new().spawn(move || write_lines(&shared, &end));
        LogLines { text, _working: working }
    }

    /// Sets the text of the next line.
    pub(crate) fn set(&self, text: String) {
        *self.text.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }
}

/// Writes the text with the elapsed time whenever a line is due, until the other end is dropped.
fn write_lines(text: &Mutex<String>, end: &Receiver<()>) {
    let (started, mut schedule) = (Instant::now(), Schedule::start());
    loop {
        let wait = Duration::from_secs(schedule.next_seconds).saturating_sub(started.elapsed());
        if end.recv_timeout(wait) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        let seconds = started.elapsed().as_secs();
        let text = text.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if schedule.is_due(seconds) && !text.is_empty() {
            // Nobody reads a standard error that is closed.
            let _ = writeln!(anstream::stderr(), "oomph: {text}, {seconds} s so far");
        }
    }
}

/// The elapsed times at which a line is due.
struct Schedule {
    next_seconds: u64,
}

impl Schedule {
    fn start() -> Schedule {
        Schedule { next_seconds: LONG_SECONDS }
    }

    fn is_due(&mut self, seconds: u64) -> bool {
        let is_due = seconds >= self.next_seconds;
        if is_due {
            self.next_seconds = seconds * 2;
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_due_after_ten_seconds_and_at_twice_the_time() {
        let mut schedule = Schedule::start();
        let due: Vec<u64> = (0..200).filter(|seconds| schedule.is_due(*seconds)).collect();
        assert_eq!(due, [10, 20, 40, 80, 160]);
        assert!(schedule.is_due(1000));
        assert!(!schedule.is_due(1900), "a late line counts from when it was written");
    }
}
