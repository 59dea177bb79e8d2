//! The binary's inside: arguments, starting programs, files, and all printing.
//!
//! Nothing is decided here: `gpus` knows the cards, `trace` reads, `diagnose` finds, `report` shows. This crate alone
//! reads the environment, opens files, starts programs and prints.

mod args;
mod artifacts;
mod cache;
mod card;
mod commands;
mod environment;
mod error;
mod interrupt;
mod launch;
mod linted;
mod output;
mod progress;
mod publish;
mod python;
mod reap;
mod rundir;
mod server;
mod world;

use std::ffi::OsString;
use std::process::ExitCode;

use crate::args::{Arguments, Command};

/// What the process ends with. The numbers are the contract of every command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExitStatus {
    /// It fits; nothing was found.
    Fits,
    /// It does not fit; something was found.
    Found,
    /// oomph could not do its work.
    Failed,
}

impl ExitStatus {
    fn code(self) -> u8 {
        match self {
            ExitStatus::Fits => 0,
            ExitStatus::Found => 1,
            ExitStatus::Failed => 2,
        }
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> ExitCode {
        ExitCode::from(status.code())
    }
}

/// Runs the command line `arguments`, the program's own name first.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let line: Vec<OsString> = arguments.into_iter().collect();
    let arguments = match Arguments::parse_line(&line) {
        Ok(arguments) => arguments,
        Err(error) => return output::usage(&error),
    };
    let result = match arguments.command {
        Command::Check(arguments) => commands::check::run(&arguments),
        Command::Explain(arguments) => commands::explain::run(&arguments),
        Command::Fit(arguments) => commands::fit::run(&arguments),
        Command::Remedy(arguments) => commands::remedy::run(&arguments),
        Command::Tune(arguments) => commands::tune::run(&arguments),
        Command::Lint(arguments) => commands::lint::run(&arguments),
        Command::Rule(arguments) => commands::rule::run(&arguments),
        Command::Gpus(arguments) => commands::gpus::run(&arguments),
        Command::Phantom(arguments) => commands::phantom::run(&arguments),
    };
    match result {
        Ok(status) => status.into(),
        Err(error) => {
            output::failure(&error);
            ExitStatus::Failed.into()
        }
    }
}
