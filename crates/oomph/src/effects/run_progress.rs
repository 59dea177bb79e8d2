//! The listener of runs: prints remarks, and shows the progress line of a running program: a sentence, and the program's last step.

use std::sync::{Mutex, PoisonError};

use drive::events::{RunEvent, RunListener};
use trace::{Bytes, Process};

use crate::effects::progress::Progress;
use crate::output;

/// Shows the events of runs.
#[derive(Default)]
pub(crate) struct ShownRuns {
    running: Mutex<Option<RunProgress>>,
}

impl RunListener for ShownRuns {
    fn hear(&self, event: RunEvent) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            RunEvent::Remark(text) => output::say(text),
            RunEvent::Started(sentence) => *running = Some(RunProgress::start(sentence)),
            RunEvent::GoesOn(process) => {
                if let Some(progress) = &*running {
                    progress.update(process);
                }
            }
            RunEvent::Ended => *running = None,
        }
    }
}

/// Shows a run while this value lives.
struct RunProgress {
    line: Progress,
    sentence: String,
}

impl RunProgress {
    fn start(sentence: &str) -> RunProgress {
        let line = Progress::spin("{spinner} {msg} {elapsed:.dim}");
        line.set_message(sentence.to_owned());
        RunProgress { line, sentence: sentence.to_owned() }
    }

    /// Shows the program's last step.
    fn update(&self, process: &Process) {
        self.line.say(|| describe(&self.sentence, process));
    }
}

fn describe(sentence: &str, process: &Process) -> String {
    let Some(last) = process.steps.last() else { return sentence.to_owned() };
    let peak = last.devices.iter().map(|stats| stats.allocated_peak_bytes).max().unwrap_or(0);
    format!("{sentence}: step {}, peak {}", last.step, Bytes(peak))
}
