//! `oomph explain --pid`, and a snapshot of a running program: the memory by now.

use std::path::Path;

use diagnose::measure_now;
use drive::live::find::find_run;
use drive::live::now::read_now;
use report::render::html;
use trace::{Process, Recording};

use super::answer::deliver;
use crate::args::Explain;
use crate::environment::current_folder;
use crate::error::Error;
use crate::exit::ExitStatus;

/// Shows what a running program holds: all its processes, or the named one if it uses a GPU.
pub(super) fn show_process(pid: u32, arguments: &Explain) -> Result<ExitStatus, Error> {
    let processes = read_now(&find_run(pid)?)?;
    let (own, others): (Vec<_>, Vec<_>) = processes.into_iter().partition(|(process, _)| process.identity.pid == pid);
    show(&if own.is_empty() { others } else { own }, arguments)
}

/// Shows what a program held when its recording was copied.
pub(super) fn show_folder(folder: &Path, arguments: &Explain) -> Result<ExitStatus, Error> {
    show(&read_now(folder)?, arguments)
}

fn show(processes: &[(Process, Option<Recording>)], arguments: &Explain) -> Result<ExitStatus, Error> {
    let report = measure_now(processes, env!("CARGO_PKG_VERSION"), &current_folder());
    deliver(&report, || html::now(&report), arguments)?;
    Ok(if report.is_growing() { ExitStatus::Found } else { ExitStatus::Fits })
}
