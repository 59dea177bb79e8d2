//! Separates runs with nothing to report from runs with a report, and states the reason.

use std::path::Path;
use std::time::Duration;

use base::{Error, run_dir};
use diagnose::Outcome;
use diagnose::changed::name_changed;
use diagnose::ending::{Raised, last_read, raised_after_a_step, raised_error, wrote_no_snapshot};
use diagnose::failure::{ProgramFailure, is_about_data};
use diagnose::halt::find_stop;
use diagnose::launchers::{find_child_failure, is_of_a_launcher};
use trace::Run;
use trace::run::{Ended, Launch};
use trace::source_file::is_user_file;

use crate::process::sight;

/// Fails where the program did something that leaves nothing to check.
pub(crate) fn check_facts(launch: &Launch, run: &Run, folder: &Path) -> Result<(), Error> {
    let raised = raised_error(run);
    // A library may have asked for a function and gone on without it.
    let is_cause = raised.as_ref().is_some_and(|raised| !is_about_data(&raised.type_name));
    let symbols = if is_cause { run_dir::missing_symbols(folder)? } else { Vec::new() };
    let output = run_dir::output_tail(folder);
    let failure = match raised {
        // The verdict is about the request that could not be served, whatever was raised later.
        Some(_) if Outcome::of(run) != Outcome::Served => return Ok(()),
        // The recorded steps are worth a report, whose verdict states the program's progress.
        Some(_) if symbols.is_empty() && raised_after_a_step(run) => return Ok(()),
        Some(Raised { at, .. }) if !symbols.is_empty() => ProgramFailure::MissingEntryPoint { symbols, at, output },
        Some(raised) => raised_failure(run, raised, folder, output),
        None if run.processes.iter().any(wrote_no_snapshot) => ProgramFailure::NoSnapshot { output },
        None if used_cuda(run) => return Ok(()),
        None => silent(launch, run, folder, output)?,
    };
    Err(Error::Program(Box::new(failure)))
}

/// Fails where the program raised an error, be it after its first steps, or left nothing to check.
pub(crate) fn check_end(launch: &Launch, run: &Run, folder: &Path) -> Result<(), Error> {
    check_facts(launch, run, folder)?;
    raised_error(run).map_or(Ok(()), |raised| {
        let failure = raised_failure(run, raised, folder, run_dir::output_tail(folder));
        Err(Error::Program(Box::new(failure)))
    })
}

/// Returns the failure of a program that raised an error. A launcher's error is about a process without records: the
/// output of that process is the cause.
fn raised_failure(run: &Run, raised: Raised, folder: &Path, output: String) -> ProgramFailure {
    let Raised { type_name, message, at } = raised;
    let (read, changed) = (last_read(run), name_changed(run));
    let is_launchers = at.is_none() && is_of_a_launcher(&type_name);
    match is_launchers.then(|| find_child_failure(&run_dir::read_output(folder))).flatten() {
        Some(child) => ProgramFailure::Child { child },
        None => ProgramFailure::Raised { type_name, message, at, read, changed, output },
    }
}

/// Returns a hint for the error that ended the program.
pub fn find_hint(run: &Run) -> Option<String> {
    let Raised { type_name, message, at } = raised_error(run)?;
    let failure =
        ProgramFailure::Raised { type_name, message, at, read: last_read(run), changed: None, output: String::new() };
    Error::Program(Box::new(failure)).hint()
}

fn used_cuda(run: &Run) -> bool {
    run.processes.iter().any(|process| process.snapshot.is_some() || !process.ledger.is_empty())
}

/// The failure of a program that raised nothing and used no CUDA.
fn silent(launch: &Launch, run: &Run, folder: &Path, output: String) -> Result<ProgramFailure, Error> {
    let ended = launch.ended.clone().unwrap_or_default();
    Ok(match ended {
        Ended { timed_out: true, seconds, .. } => ProgramFailure::TimedOut { seconds, at: find_line(folder), output },
        Ended { stopped_by: Some(by), seconds, .. } => {
            let answered = find_stop(run, launch.ended.as_ref(), None).and_then(|stopped| stopped.location);
            let at = answered.map(|location| (location.file, location.line)).or_else(|| find_line(folder));
            ProgramFailure::Stopped { by, seconds, at, output }
        }
        Ended { signal: Some(signal), .. } => ProgramFailure::Killed { signal, output },
        Ended { exit_code: Some(code), .. } if code != 0 => ProgramFailure::Exited { code, output },
        _ if !run.processes.is_empty() => ProgramFailure::NoCuda { output },
        _ if run_dir::phantom_was_used(folder)? => ProgramFailure::NoAgent { output },
        _ => ProgramFailure::NoTorch { output },
    })
}

/// The user's line of a program that was stopped before it used CUDA.
fn find_line(folder: &Path) -> Option<(String, u32)> {
    let frames = sight::read_first_stack(folder);
    frames.into_iter().find(|(_, file, _)| is_user_file(file, "")).map(|(_, file, line)| (file, line))
}

/// The status of a program that aborted.
const SIGABRT: i32 = -6;

/// Describes the end of a program that recorded no error: `None` for a good end. `status` is less than 0 for a signal.
pub(crate) fn describe_end(folder: &Path, status: i32, timed_out: Option<Duration>) -> Option<String> {
    let last = run_dir::output_tail(folder).lines().last().unwrap_or_default().to_owned();
    match (timed_out, status) {
        (Some(limit), _) => Some(format!("it did not end within {} s", limit.as_secs())),
        (None, 0) => None,
        (None, 1..) => Some(format!("it ended with exit status {status}: {last}")),
        // A runtime that aborts has said why.
        (None, SIGABRT) if !last.is_empty() => Some(format!("it was killed by signal 6: {last}")),
        (None, _) => Some(format!("it was killed by signal {}", -status)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_program_is_described() {
        let folder = tempfile::tempdir().expect("a folder");
        let check = |output: &str, status: i32, expected: Option<&str>| {
            std::fs::write(folder.path().join(wire::file::OUTPUT), output).expect("a file");
            assert_eq!(describe_end(folder.path(), status, None).as_deref(), expected, "{status} {output}");
        };
        check("step 1\n", 0, None);
        check("step 1\nwrong option\n", 2, Some("it ended with exit status 2: wrong option"));
        check("step 1\nfree(): invalid pointer\n", -6, Some("it was killed by signal 6: free(): invalid pointer"));
        check("", -6, Some("it was killed by signal 6"));
        // A killed program has said nothing about its end.
        check("step 1\n", -9, Some("it was killed by signal 9"));
    }
}
