//! The end of a command that could not do its work: a sentence on standard error, and an object where a program expects JSON.

mod usage;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::OnceLock;

use report::failure::CommandError;
use report::render::agent::write_error;

use crate::args::{JsonTargets, find_command, find_json};
use crate::audience;
use crate::effects::publish;
use crate::error::Error;
use crate::exit::ExitStatus;
use crate::output;

/// The command line of this process.
static LINE: OnceLock<Vec<OsString>> = OnceLock::new();

/// Keeps the command line, which names the places for JSON.
pub(crate) fn set_line(line: &[OsString]) {
    // A process has one command line.
    let _ = LINE.set(line.to_vec());
}

/// Tells people and programs of an error.
pub(crate) fn tell(error: &Error) {
    output::failure(error);
    write(error.describe());
}

/// Prints a message of clap's: help is an answer, a wrong argument a failure.
pub(crate) fn tell_usage(error: &clap::Error) -> ExitCode {
    let is_read_in_object = audience::is_agent() && error.use_stderr();
    if !is_read_in_object {
        // A closed pipe is no error.
        let _ = error.print();
    }
    if !error.use_stderr() {
        return ExitCode::SUCCESS;
    }
    let command = LINE.get().and_then(|line| find_command(line));
    write(usage::describe(error, command.as_deref()));
    ExitStatus::Failed.into()
}

/// Writes an error where a program expects JSON. A further failure is not reported: standard error has the first one.
fn write(error: CommandError) {
    let targets = LINE.get().map(|line| find_json(line)).unwrap_or_default();
    if targets.is_for_agent() {
        let _ = write_error(&error).map(|text| output::verbatim(&text));
    }
    let JsonTargets { is_on_stdout, file, .. } = targets;
    if !is_on_stdout && file.is_none() {
        return;
    }
    let Ok(text) = error.write() else { return };
    if let Some(file) = file {
        let _ = publish::write_whole(&file, &text);
    }
    if is_on_stdout {
        let _ = output::verbatim(&text);
    }
}
