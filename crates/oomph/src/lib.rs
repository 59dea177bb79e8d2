//! The binary: arguments, effects, output.
//!
//! Nothing is decided here: `gpus` has the profiles, `run` plans dry runs, `trace` reads, `diagnose` finds, `report` renders. This
//! crate alone reads the environment, opens files, starts programs and prints.

mod args;
mod artifacts;
mod commands;
mod dry_run;
mod effects;
mod environment;
mod error;
mod exit;
mod gpu_choice;
mod lint_links;
mod output;
mod python;
mod reference;
mod spelling;
mod words;

use std::ffi::OsString;
use std::process::ExitCode;

pub use crate::reference::write_reference;

use crate::exit::ExitStatus;

/// Runs the command line `arguments`, the program's own name first.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let line: Vec<OsString> = arguments.into_iter().collect();
    if let Some((owner, places)) = effects::watchdog::find_watched(&line) {
        effects::watchdog::watch(owner, places);
        return ExitCode::SUCCESS;
    }
    if let Some((spec, words)) = effects::world::find_entering(&line) {
        output::say(&format!("the program could not be started: {}", effects::world::become_program(spec, words)));
        return ExitStatus::Failed.into();
    }
    let (command, after_dashes) = match args::parse_line(&line) {
        Ok(parsed) => parsed,
        Err(error) => return output::usage(&error),
    };
    let outcome = commands::run(command, after_dashes);
    effects::temporary::finish_removals();
    match outcome {
        Ok(status) => status.into(),
        Err(error) => {
            output::failure(&error);
            ExitStatus::Failed.into()
        }
    }
}
