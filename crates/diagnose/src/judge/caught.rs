//! Unserved requests of a program that went on, because it caught the error or ignored it.
//!
//! # Note [Caught errors]
//! A program that catches an out-of-memory error has not fitted: a batch was skipped, a row of its table says "OOM", a
//! thread is gone. So the verdict is about the request, whoever caught the error. The exception is a program that did the
//! failed work again with less, and lives with the error: it searches for a size by running out, takes another way, or
//! measures the device. Either the handler makes a number smaller (the agent reads the handler's source, or the number
//! itself, Note `[Attempts]` in `python/oomph/agent/memory/attempts.py`) and an optimizer step followed the last error, or the later requests show it (Note [Recoveries] in `recovery.rs`). This must hold for
//! every statement that caught an error. A program may ask child processes instead, one for each size (`probes.rs`).

use report::{Caught, Location, Recovery, SizeSearch, Then};
use trace::run::{AttemptRecord, Ended, OomRecord};
use trace::{Frame, Process};

use super::ending::ended_by_oom;
use super::recovery::find_recovery;
use super::unserved::{has_final_refusal, is_error};
use crate::measure::own::{is_agent, is_entry_point, is_own};

/// Returns the recovery of a program that ran out and did the failed work again with less; of several, the first.
pub(crate) fn find_search(process: &Process) -> Option<SizeSearch> {
    if ended_by_oom(process) || has_final_refusal(process) {
        return None;
    }
    let errors: Vec<&OomRecord> = process.ooms.iter().filter(|oom| is_error(oom)).collect();
    let first = errors.first()?;
    let mut recoveries = Vec::new();
    for (index, oom) in errors.iter().enumerate() {
        let is_last = !errors[index + 1..].iter().any(|later| later.caught_at == oom.caught_at);
        if is_last {
            recoveries.push((oom, recover(process, oom)?));
        }
    }
    let (oom, recovery) = recoveries.iter().find(|(oom, _)| oom.caught_at == first.caught_at)?;
    let (file, line) = first.caught_at.clone()?;
    let attempt = find_attempt(process, oom);
    Some(SizeSearch {
        lowers: attempt.map(|attempt| attempt.name.clone()).or_else(|| oom.lowers.clone()),
        tried: attempt.map(|attempt| attempt.tried.clone()).unwrap_or_default(),
        settled: attempt.map(|attempt| attempt.now),
        caught_at: Location { file, line, column: None },
        errors: u64::try_from(errors.len()).unwrap_or(u64::MAX),
        recovery: *recovery,
        refused_at: own_line(&first.frames, &process.identity.script_dir),
    })
}

/// Returns the way in which the program lives with the last error of a statement.
fn recover(process: &Process, oom: &OomRecord) -> Option<Recovery> {
    let is_set = find_attempt(process, oom).is_some_and(|attempt| attempt.is_set);
    let is_lowered = (oom.lowers.is_some() || is_set) && count_steps_after_errors(process) > 0;
    if is_lowered { Some(Recovery::Smaller) } else { find_recovery(process, oom) }
}

/// Returns the number that became smaller after the errors of a statement.
fn find_attempt<'a>(process: &'a Process, oom: &OomRecord) -> Option<&'a AttemptRecord> {
    let (file, line) = oom.caught_at.as_ref()?;
    process.attempts.iter().find(|attempt| attempt.file == *file && attempt.line == *line)
}

/// Returns the user's innermost line of an error's stack.
pub(crate) fn own_line(frames: &[(String, String, u32)], script_dir: &str) -> Option<Location> {
    let own = frames.iter().position(|(_, file, _)| is_own(file, script_dir))?;
    let (function, file, line) = &frames[own];
    let frame = Frame { function: function.clone(), file: file.clone(), line: *line };
    let library = || frames[..own].iter().find(|(_, file, _)| !file.contains("/torch/") && !is_agent(file));
    let (_, file, line) = library().filter(|_| is_entry_point(&frame)).unwrap_or(&frames[own]);
    Some(Location { file: file.clone(), line: *line, column: None })
}

/// Returns the fate of the errors that did not end the process.
pub(crate) fn find_caught(process: &Process, ended: Option<&Ended>) -> Option<Caught> {
    if ended_by_oom(process) {
        return None;
    }
    let handler = process.ooms.iter().find_map(|oom| oom.caught_at.clone());
    let location = handler.map(|(file, line)| Location { file, line, column: None });
    let errors = process.ooms.iter().filter(|oom| is_error(oom)).count();
    let steps = count_steps_after_errors(process);
    let then = if steps > 0 {
        Then::WentOn { steps }
    } else {
        Then::Ended { status: ended.and_then(|ended| ended.exit_code) }
    };
    Some(Caught { location, errors: u64::try_from(errors).unwrap_or(u64::MAX), then })
}

/// Counts the steps after the last failed request; without one, all steps.
fn count_steps_after_errors(process: &Process) -> u32 {
    let steps = process.ooms.last().map_or(process.steps.len(), |oom| process.steps_after(oom).count());
    u32::try_from(steps).unwrap_or(u32::MAX)
}
