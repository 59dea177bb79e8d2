//! Progress on standard error: a spinner at a terminal, few lines in a log file.

use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use trace::{Bytes, Record};

use crate::effects::run_dir;
use crate::log_lines::LogLines;

/// The progress line of a running program.
pub(crate) struct Progress {
    bar: ProgressBar,
    lines: LogLines,
    sentence: String,
    folder: PathBuf,
}

impl Progress {
    /// Shows a sentence; the steps are read from the run directory.
    pub(crate) fn start(sentence: &str, folder: &Path) -> Progress {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed:.dim}") {
            bar.set_style(style);
        }
        bar.set_message(sentence.to_owned());
        bar.enable_steady_tick(Duration::from_millis(100));
        Progress { bar, lines: LogLines::start(), sentence: sentence.to_owned(), folder: folder.to_owned() }
    }

    /// Shows the program's last step.
    pub(crate) fn update(&self) {
        if self.bar.is_hidden() {
            self.lines.say(|| self.describe());
        } else {
            self.bar.set_message(self.describe());
        }
    }

    fn describe(&self) -> String {
        let (records, _) = run_dir::records_so_far(&self.folder);
        let last = records.iter().rev().find_map(|record| match record {
            Record::Step { step, devices, .. } => {
                Some((*step, devices.iter().map(|d| d.allocated_peak_bytes).max().unwrap_or(0)))
            }
            _ => None,
        });
        match last {
            Some((step, peak)) => format!("{}: step {step}, peak {}", self.sentence, Bytes(peak)),
            None => self.sentence.clone(),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
