//! The binary: arguments, commands, output.
//!
//! Nothing is decided here: `gpus` has the profiles, `run` plans dry runs, `drive` performs them, `trace` reads, `diagnose` finds,
//! `report` renders. This crate alone prints.

mod args;
mod artifacts;
mod audience;
mod commands;
mod effects;
mod environment;
mod error;
mod exit;
mod failure;
mod forecast;
mod gpu_choice;
mod lint_links;
mod output;
mod program;
mod spelling;

use std::ffi::OsString;
use std::process::ExitCode;

use drive::cleanup::{interrupt, temporary, watchdog};
use drive::guard::entering;

use crate::exit::ExitStatus;

/// Returns the definition of the command line, for its reference.
pub fn define_command_line() -> clap::Command {
    args::define()
}

/// Returns the same with the values that a shell offers, for its completion.
pub fn define_completed_line() -> clap::Command {
    args::define_completed()
}

/// Runs the command line `arguments`, the program's own name first.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let line: Vec<OsString> = arguments.into_iter().collect();
    if let Some((owner, places)) = watchdog::find_watched(&line) {
        watchdog::watch(owner, places);
        return ExitCode::SUCCESS;
    }
    if let Some((spec, words)) = entering::find_entering(&line) {
        output::say(&format!("the program could not be started: {}", entering::become_program(spec, words)));
        return ExitStatus::Failed.into();
    }
    failure::set_line(&line);
    audience::set(args::asks_for_agent(&line) || environment::names_agent());
    drive::events::set_listener(Box::new(effects::run_progress::ShownRuns));
    let (command, after_dashes) = match args::parse_line(&line) {
        Ok(parsed) => parsed,
        Err(error) => return failure::tell_usage(&error),
    };
    let outcome = commands::run(command, after_dashes);
    effects::run_progress::clear();
    temporary::finish_removals();
    let status = outcome.unwrap_or_else(|error| {
        failure::tell(&error);
        ExitStatus::Failed
    });
    // A shell must not go on after Ctrl-C, whatever was seen until then.
    interrupt::asked().map_or(status, |request| ExitStatus::of_signal(request.signal)).into()
}
