//! The progress line of a running program: a sentence, and the program's last step.

use std::path::Path;

use trace::{Bytes, Process};

use crate::effects::live_process::LiveProcess;
use crate::effects::progress::Progress;

/// Shows a run while this value lives.
pub(crate) struct RunProgress {
    line: Progress,
    sentence: String,
    live: LiveProcess,
}

impl RunProgress {
    /// Shows a sentence; the steps are read from the run directory.
    pub(crate) fn start(sentence: &str, folder: &Path) -> RunProgress {
        let line = Progress::spin("{spinner} {msg} {elapsed:.dim}");
        line.set_message(sentence.to_owned());
        RunProgress { line, sentence: sentence.to_owned(), live: LiveProcess::of(folder) }
    }

    /// Shows the program's last step.
    pub(crate) fn update(&mut self) {
        let process = self.live.update();
        self.line.say(|| describe(&self.sentence, process));
    }
}

fn describe(sentence: &str, process: &Process) -> String {
    let Some(last) = process.steps.last() else { return sentence.to_owned() };
    let peak = last.devices.iter().map(|stats| stats.allocated_peak_bytes).max().unwrap_or(0);
    format!("{sentence}: step {}, peak {}", last.step, Bytes(peak))
}
