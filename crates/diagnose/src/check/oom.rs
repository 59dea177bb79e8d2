//! The out-of-memory error of a process.

use report::{Location, Oom, Place};
use trace::run::Ended;
use trace::text::Artifact;
use trace::{Bytes, Process, Record};

use crate::judge::caught::find_caught;
use crate::judge::ending::ended_by_oom;
use crate::measure::own::is_own;
use crate::measure::run_records::{first_oom, last_oom, script_dir};

/// Returns the error of `process`'s allocator that matters: the last one if it ended the program, else the first one that was caught.
/// `None` without an error, or if a library's own request failed.
pub(super) fn refused(process: &Process) -> Option<Oom> {
    let record = if ended_by_oom(process) { last_oom(process) } else { first_oom(process) };
    let Record::Oom { requested_bytes, step, phase, module, frames, .. } = record? else {
        return None;
    };
    Some(Oom {
        requested_bytes: Some(Bytes(*requested_bytes)),
        place: Place {
            step: Some(*step),
            phase: *phase,
            module: Some(module.clone()).filter(|module| !module.is_empty()),
        },
        location: own_line(frames, script_dir(process)),
        message: error_message(process),
        caught: None,
    })
}

/// Returns the number of errors of `process`'s allocator.
pub(super) fn times_refused(process: &Process) -> u64 {
    let times = process.records.iter().filter(|record| matches!(record, Record::Oom { .. })).count();
    u64::try_from(times).unwrap_or(u64::MAX)
}

/// Returns the out-of-memory error of `process`, as far as it is known. `ended`: the end of the program.
pub(super) fn oom(process: &Process, ended: Option<&Ended>) -> Oom {
    let found = refused(process).unwrap_or_else(|| oom_of_message(process));
    Oom { caught: find_caught(process, ended), ..found }
}

/// Returns the figures of the error message alone: of a library's own request, or of an allocator without an observer.
fn oom_of_message(process: &Process) -> Oom {
    let message = error_message(process);
    let location = process.records.iter().rev().find_map(|record| match record {
        Record::Error { oom: true, file: Some(file), line: Some(line), .. } => {
            Some(Location { file: file.clone(), line: *line, column: None })
        }
        _ => None,
    });
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

fn own_line(frames: &[(String, String, u32)], script_dir: &str) -> Option<Location> {
    let mut frames = frames.iter();
    let (_, file, line) = frames.find(|(_, file, _)| is_own(file, script_dir))?;
    Some(Location { file: file.clone(), line: *line, column: None })
}

/// Returns the error message; empty without a recorded error.
fn error_message(process: &Process) -> String {
    let message = process.records.iter().rev().find_map(|record| match record {
        Record::Error { oom: true, message, .. } => Some(message.clone()),
        _ => None,
    });
    message.unwrap_or_default()
}
