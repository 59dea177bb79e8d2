//! The progress line of a running program: a sentence, and the program's last step.

use std::path::{Path, PathBuf};

use trace::{Bytes, Record};

use crate::effects::progress::Progress;
use crate::effects::run_dir;

/// Shows a run while this value lives.
pub(crate) struct RunProgress {
    line: Progress,
    sentence: String,
    folder: PathBuf,
}

impl RunProgress {
    /// Shows a sentence; the steps are read from the run directory.
    pub(crate) fn start(sentence: &str, folder: &Path) -> RunProgress {
        let line = Progress::spin("{spinner} {msg} {elapsed:.dim}");
        line.set_message(sentence.to_owned());
        RunProgress { line, sentence: sentence.to_owned(), folder: folder.to_owned() }
    }

    /// Shows the program's last step.
    pub(crate) fn update(&self) {
        self.line.say(|| self.describe());
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
