//! The listener of runs: prints remarks, and shows the line of a running program, or of a search by dry runs: the step, the phase and the line of the
//! program, and its memory.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::events::{RunEvent, RunListener, Sight};
use diagnose::Variant;
use report::render::named;
use report::words::relative;

use crate::effects::progress::Progress;
use crate::environment::current_folder;
use crate::output;

/// The line on standard error, of which there is one.
static LINE: Mutex<Option<ShownLine>> = Mutex::new(None);

/// What is shown of the runs.
enum ShownLine {
    /// Of a program that runs alone, or whose records are read after its end.
    Run { progress: Progress, sentence: String },
    /// Of a search by dry runs, which `SearchProgress` shows, too.
    Search { progress: Arc<Progress>, trial: Option<String> },
}

impl ShownLine {
    fn progress(&self) -> &Progress {
        match self {
            ShownLine::Run { progress, .. } => progress,
            ShownLine::Search { progress, .. } => progress,
        }
    }

    fn show(&self, sight: &Sight) {
        let folder = current_folder();
        match self {
            ShownLine::Run { progress, sentence } => progress.say(format!("{sentence}: {}", describe(sight, &folder))),
            ShownLine::Search { progress, trial } => {
                let trial = trial.as_deref().unwrap_or("the first dry run");
                let text = format!("{trial}: {}", describe(sight, &folder));
                progress.log(|| format!("{}, now {text}", progress.count_runs()));
                progress.set_message(text);
            }
        }
    }
}

/// Shows the events of runs.
pub(crate) struct ShownRuns;

impl RunListener for ShownRuns {
    fn hear(&self, event: RunEvent) {
        let mut line = line();
        match event {
            RunEvent::Remark(text) => say(line.as_ref(), text),
            RunEvent::Started(Some(sentence)) => *line = Some(start(sentence)),
            RunEvent::Started(None) => {}
            RunEvent::Trial(variant) => {
                if let Some(ShownLine::Search { progress, trial }) = &mut *line {
                    *trial = variant.map(name);
                    if trial.is_none() {
                        progress.log(|| "the program's packages are imported".to_owned());
                        progress.set_message("imports the program's packages".to_owned());
                    }
                }
            }
            RunEvent::GoesOn(sight) => line.iter().for_each(|line| line.show(sight)),
            RunEvent::Asked => {
                let text = "oomph: stops, and reports what was seen; a second signal ends at once";
                say(line.as_ref(), text);
            }
            RunEvent::Ended => {
                if let Some(ShownLine::Run { progress, .. }) = &*line {
                    progress.say("reading what was recorded".to_owned());
                }
            }
        }
    }
}

/// Shows a search as long as it holds `progress`, too.
pub(super) fn show_search(progress: &Arc<Progress>) {
    *line() = Some(ShownLine::Search { progress: Arc::clone(progress), trial: None });
}

/// Removes the line: an answer or an error is about to be printed.
pub(crate) fn clear() {
    *line() = None;
}

fn line() -> MutexGuard<'static, Option<ShownLine>> {
    LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn start(sentence: &str) -> ShownLine {
    let progress = Progress::spin("{spinner} {msg} {elapsed:.dim}");
    progress.say(sentence.to_owned());
    ShownLine::Run { progress, sentence: sentence.to_owned() }
}

fn say(line: Option<&ShownLine>, text: &str) {
    match line {
        Some(line) => line.progress().suspend(|| output::say(text)),
        None => output::say(text),
    }
}

/// Names the changes of a variant.
pub(super) fn name(variant: &Variant) -> String {
    if variant.is_unchanged() { "unchanged".to_owned() } else { named(&variant.changes) }
}

/// `step 2, backward, train.py:41, 4.21 GiB in use, peak 8.64 GiB`.
fn describe(sight: &Sight, folder: &str) -> String {
    let position = sight.position.map(|(step, phase)| format!("step {step}, {}", phase.name()));
    let position = position.unwrap_or_else(|| "no GPU used yet".to_owned());
    let line = sight.line.as_ref().map(|(file, line)| format!("{}:{line}", relative(file, folder)));
    let memory = sight.memory.map(|(in_use, peak)| format!("{in_use} in use, peak {peak}"));
    [Some(position), line, memory].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use trace::{Bytes, Phase};

    use super::*;

    #[test]
    fn a_program_is_described_as_far_as_it_is_seen() {
        let whole = Sight {
            position: Some((2, Phase::Backward)),
            line: Some(("/w/train.py".to_owned(), 41)),
            memory: Some((Bytes::from_gib(4), Bytes::from_gib(8))),
        };
        let cases = [
            (Sight::default(), "no GPU used yet"),
            (Sight { position: None, memory: None, ..whole.clone() }, "no GPU used yet, train.py:41"),
            (whole, "step 2, backward, train.py:41, 4.00 GiB in use, peak 8.00 GiB"),
        ];
        for (sight, expected) in cases {
            assert_eq!(describe(&sight, "/w"), expected);
        }
    }
}
