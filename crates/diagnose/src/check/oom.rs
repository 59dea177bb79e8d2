//! The out-of-memory error of a process.

use report::{Location, Oom, Place};
use trace::text::Artifact;
use trace::{Action, Bytes, Mark, Process};

use super::case::Case;
use super::ranks::ranks;
use crate::judge::caught::{find_caught, own_line};
use crate::judge::outcome::Outcome;
use crate::measure::program_steps::ProgramSteps;
use crate::measure::view::find_root;

/// Returns the decisive error of `process`'s allocator: the last error if it ended the program, else the first caught
/// error. `None` without an error, or if a library's own request failed.
pub(super) fn refused(case: &Case, process: &Process) -> Option<Oom> {
    let is_fatal = Outcome::of_process(process, case.limited) == Outcome::Ended;
    let oom = if is_fatal { process.ooms.last()? } else { process.ooms.first()? };
    Some(Oom {
        requested_bytes: Some(Bytes(oom.requested_bytes)),
        rank: rank_in_job(case, process),
        place: Place {
            step: ProgramSteps::of(process).find(oom.step),
            phase: oom.phase.0,
            stage: mark_of_error(process, oom.device, is_fatal).and_then(|mark| mark.stage),
            module: Some(oom.module.clone()).filter(|module| !module.is_empty()),
            root: find_root(process, &oom.module),
        },
        location: own_line(&oom.frames, &process.identity.script_dir),
        message: error_message(process),
        caught: None,
    })
}

/// Returns the mark of the last error of a device, or of the first.
fn mark_of_error(process: &Process, device: u32, is_last: bool) -> Option<&Mark> {
    let snapshot = process.snapshot.as_ref()?;
    let mut errors = snapshot.traces.get(device as usize)?.iter().filter(|event| event.action == Action::Oom);
    let error = if is_last { errors.next_back() } else { errors.next() };
    snapshot.marks.get(error?.mark? as usize)
}

/// Returns the out-of-memory error of `process`, as far as it is known.
pub(super) fn oom(case: &Case, process: &Process) -> Oom {
    let found = refused(case, process).unwrap_or_else(|| oom_of_message(process));
    Oom { caught: find_caught(process, case.launch.ended.as_ref()), rank: rank_in_job(case, process), ..found }
}

/// Returns the rank of a process, if every process that used a device has a rank of its own.
fn rank_in_job(case: &Case, process: &Process) -> Option<u32> {
    let ranks = ranks(case);
    let is_unique = ranks.iter().filter(|one| one.rank == process.identity.rank).count() == 1;
    (ranks.len() > 1 && is_unique).then_some(process.identity.rank)
}

/// Returns the figures of the error message alone: of a library's own request, or of an allocator without an observer.
fn oom_of_message(process: &Process) -> Oom {
    let message = error_message(process);
    let mut at = process.errors.iter().filter(|error| error.oom).filter_map(|error| error.file.clone().zip(error.line));
    let location = at.next_back().map(|(file, line)| Location { file, line, column: None });
    Oom { requested_bytes: stated_request(&message), location, message, ..Oom::default() }
}

/// Returns the request that a PyTorch error states.
fn stated_request(message: &str) -> Option<Bytes> {
    let text = format!("torch.OutOfMemoryError: {message}");
    trace::text::read(text.as_bytes()).into_iter().find_map(|artifact| match artifact {
        Artifact::Oom(oom) => oom.requested_bytes.map(|bytes| bytes.nearest),
        _ => None,
    })
}

/// Returns the error message; empty without a recorded error.
fn error_message(process: &Process) -> String {
    let last = process.errors.iter().rfind(|error| error.oom);
    last.map(|error| error.message.clone()).unwrap_or_default()
}
