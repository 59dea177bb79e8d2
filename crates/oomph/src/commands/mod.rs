//! The commands, one file each: prepare, call, show. No analysis.

mod against;
mod answer;
#[cfg(target_os = "linux")]
mod check;
mod completions;
mod explain;
#[cfg(target_os = "linux")]
mod fit;
mod gpus;
mod lint;
#[cfg_attr(not(target_os = "linux"), path = "elsewhere.rs")]
mod linux;
#[cfg(target_os = "linux")]
mod mcp;
#[cfg(target_os = "linux")]
mod now;
#[cfg(target_os = "linux")]
mod phantom;
mod real_run;
#[cfg(target_os = "linux")]
mod record_into;
mod remedy;
mod rule;
#[cfg(target_os = "linux")]
mod run;
mod skill;
#[cfg(target_os = "linux")]
mod slurm_job;
#[cfg(target_os = "linux")]
mod sweep;
#[cfg(target_os = "linux")]
mod top;
#[cfg(target_os = "linux")]
mod tune;
#[cfg(target_os = "linux")]
mod watch;

use std::process;

use base::interrupt;

pub(crate) use self::linux::{finish_removals, serve_itself};
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
    linux::prepare(&command);
    // The program replaces this process, or has the terminal, and handles Ctrl-C itself.
    // The server ends its commands first, which end their programs.
    if !matches!(command, Command::Phantom(_) | Command::Run(_) | Command::Mcp(_)) {
        interrupt::watch(finish)?;
    }
    match command {
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Remedy(arguments) => remedy::run(&arguments),
        Command::Lint(arguments) => lint::run(&arguments),
        Command::Rule(arguments) => rule::run(&arguments),
        Command::Gpus(arguments) => gpus::run(&arguments),
        Command::Skill(arguments) => skill::run(&arguments),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Check(arguments) => linux::check(&arguments, after_dashes),
        Command::Fit(arguments) => linux::fit(&arguments, after_dashes),
        Command::Sweep(arguments) => linux::sweep(&arguments, after_dashes),
        Command::Watch(arguments) => linux::watch(&arguments, after_dashes),
        Command::Tune(arguments) => linux::tune(&arguments),
        Command::Run(arguments) => linux::run(&arguments, after_dashes),
        Command::RecordInto(arguments) => linux::record_into(&arguments),
        Command::Top(arguments) => linux::top(&arguments),
        Command::Phantom(arguments) => linux::phantom(&arguments),
        Command::Mcp(arguments) => linux::mcp(&arguments),
    }
}

fn makes_dry_runs(command: &Command) -> bool {
    matches!(command, Command::Check(_) | Command::Fit(_) | Command::Sweep(_) | Command::Tune(_) | Command::Watch(_))
}

/// Ends the process at a signal, and its programs before.
fn finish(signal: i32) -> ! {
    linux::leave_nothing();
    run_progress::clear();
    publish::abandon();
    failure::tell(&Error::Run(base::Error::Interrupted));
    process::exit(ExitStatus::of_signal(signal).code().into())
}
