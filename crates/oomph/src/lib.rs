//! The binary: arguments, commands, output.
//!
//! Nothing is decided here: `gpus` has the profiles, `run` plans dry runs, `drive` performs them, `trace` reads, `diagnose` finds,
//! `report` renders. This crate alone prints.

#![cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, unused_imports, reason = "the command line and its effects are defined on every system")
)]

mod args;
mod artifacts;
mod audience;
mod commands;
mod effects;
mod environment;
mod error;
mod exit;
mod failure;
#[cfg(target_os = "linux")]
mod forecast;
mod gpu_choice;
mod lint_links;
mod output;
#[cfg(target_os = "linux")]
mod program;
mod spelling;
mod system;

use std::ffi::OsString;
use std::process::ExitCode;

use base::interrupt;

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
    if let Some(status) = commands::serve_itself(&line) {
        return status.into();
    }
    failure::set_line(&line);
    audience::set(args::asks_for_agent(&line) || environment::names_agent());
    base::events::set_listener(Box::new(effects::run_progress::ShownRuns));
    let (command, after_dashes) = match args::parse_line(&line) {
        Ok(parsed) => parsed,
        Err(error) => return failure::tell_usage(&error),
    };
    let outcome = commands::run(command, after_dashes);
    effects::run_progress::clear();
    commands::finish_removals();
    let status = outcome.unwrap_or_else(|error| {
        failure::tell(&error);
        ExitStatus::Failed
    });
    // A shell must not go on after Ctrl-C, whatever was seen until then.
    interrupt::asked().map_or(status, |request| ExitStatus::of_signal(request.signal)).into()
}
