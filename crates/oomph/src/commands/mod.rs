//! The commands, one file each: prepare, call, show. No analysis.

mod against;
mod answer;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod explain;
pub(crate) mod fit;
pub(crate) mod gpus;
pub(crate) mod lint;
pub(crate) mod mcp;
mod now;
pub(crate) mod phantom;
mod real_run;
pub(crate) mod record_into;
pub(crate) mod remedy;
pub(crate) mod rule;
pub(crate) mod run;
pub(crate) mod skill;
mod slurm_job;
pub(crate) mod sweep;
pub(crate) mod top;
pub(crate) mod tune;
pub(crate) mod watch;

use std::process;

use drive::cleanup::interrupt;
use drive::guard::descriptors;

use crate::args::Command;
use crate::effects::{publish, run_progress};
use crate::environment::is_in_dry_run;
use crate::error::Error;
use crate::exit::ExitStatus;
use crate::failure;

/// Runs a command. `after_dashes`: its program was written after a `--`.
pub(crate) fn run(command: Command, after_dashes: bool) -> Result<ExitStatus, Error> {
    // A program that checks itself would start dry runs without an end.
    if (makes_dry_runs(&command) || matches!(command, Command::Mcp(_))) && is_in_dry_run() {
        return Err(Error::InsideDryRun);
    }
    if makes_dry_runs(&command) {
        descriptors::close_inherited();
    }
    if matches!(&command, Command::Run(arguments) if arguments.retry.is_none()) {
        descriptors::note_passed();
    }
    // The program replaces this process, or has the terminal, and handles Ctrl-C itself.
    // The server ends its commands first, which end their programs.
    if !matches!(command, Command::Phantom(_) | Command::Run(_) | Command::Mcp(_)) {
        interrupt::watch(finish)?;
    }
    match command {
        Command::Check(arguments) => check::run(&arguments, after_dashes),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Fit(arguments) => fit::run(&arguments, after_dashes),
        Command::Remedy(arguments) => remedy::run(&arguments),
        Command::Tune(arguments) => tune::run(&arguments),
        Command::Lint(arguments) => lint::run(&arguments),
        Command::Rule(arguments) => rule::run(&arguments),
        Command::Gpus(arguments) => gpus::run(&arguments),
        Command::Mcp(arguments) => mcp::run(&arguments),
        Command::Sweep(arguments) => sweep::run(&arguments, after_dashes),
        Command::Watch(arguments) => watch::run(&arguments, after_dashes),
        Command::Run(arguments) => run::run(&arguments, after_dashes),
        Command::Top(arguments) => top::run(&arguments),
        Command::RecordInto(arguments) => record_into::run(&arguments),
        Command::Skill(arguments) => skill::run(&arguments),
        Command::Phantom(arguments) => phantom::run(&arguments),
        Command::Completions(arguments) => completions::run(&arguments),
    }
}

fn makes_dry_runs(command: &Command) -> bool {
    matches!(command, Command::Check(_) | Command::Fit(_) | Command::Sweep(_) | Command::Tune(_) | Command::Watch(_))
}

/// Ends the process at a signal, when its programs have ended.
fn finish(signal: i32) -> ! {
    run_progress::clear();
    publish::abandon();
    top::leave_screen();
    failure::tell(&Error::Run(drive::Error::Interrupted));
    process::exit(ExitStatus::of_signal(signal).code().into())
}
