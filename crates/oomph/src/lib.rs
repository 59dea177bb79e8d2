//! The binary: arguments, effects, output.
//!
//! Nothing is decided here: `gpus` has the profiles, `run` plans dry runs, `trace` reads, `diagnose` finds, `report` renders. This
//! crate alone reads the environment, opens files, starts programs and prints.

mod args;
mod artifacts;
mod commands;
mod effects;
mod environment;
mod error;
mod exit;
mod failure;
mod gpu_choice;
mod lint_links;
mod output;
mod program;
mod progress;
mod python;
mod reference;
mod run_cache;
mod spelling;
mod words;

use std::ffi::OsString;
use std::process::ExitCode;

pub use crate::reference::write_reference;

use crate::args::Command;
use crate::error::Error;
use crate::exit::ExitStatus;

/// Runs the command line `arguments`, the program's own name first.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let line: Vec<OsString> = arguments.into_iter().collect();
    let (command, after_dashes) = match args::parse_line(&line) {
        Ok(parsed) => parsed,
        Err(error) => return output::usage(&error),
    };
    let result = match command {
        Command::Phantom(arguments) => commands::phantom::run(&arguments),
        command => effects::interrupt::watch().and_then(|()| run_command(command, after_dashes)),
    };
    match result {
        Ok(status) => status.into(),
        Err(error) => {
            output::failure(&error);
            ExitStatus::Failed.into()
        }
    }
}

fn run_command(command: Command, after_dashes: bool) -> Result<ExitStatus, Error> {
    match command {
        Command::Check(arguments) => commands::check::run(&arguments, after_dashes),
        Command::Explain(arguments) => commands::explain::run(&arguments),
        Command::Fit(arguments) => commands::fit::run(&arguments, after_dashes),
        Command::Remedy(arguments) => commands::remedy::run(&arguments),
        Command::Tune(arguments) => commands::tune::run(&arguments),
        Command::Lint(arguments) => commands::lint::run(&arguments),
        Command::Rule(arguments) => commands::rule::run(&arguments),
        Command::Gpus(arguments) => commands::gpus::run(&arguments),
        Command::Phantom(arguments) => commands::phantom::run(&arguments),
    }
}
