//! `oomph explain --pid`, and a snapshot of a running program: the memory by now.

use std::path::Path;

use diagnose::describe_now;
use drive::live::find::find_run;
use drive::live::now::read_now;
use trace::{Process, Recording};

use crate::environment::current_folder;
use crate::error::Error;
use crate::exit::ExitStatus;
use crate::output;

/// Shows what a running program holds: all its processes, or the named one if it uses a GPU.
pub(super) fn show_process(pid: u32) -> Result<ExitStatus, Error> {
    let processes = read_now(&find_run(pid)?)?;
    let (own, others): (Vec<_>, Vec<_>) = processes.into_iter().partition(|(process, _)| process.identity.pid == pid);
    show(&if own.is_empty() { others } else { own })
}

/// Shows what a program held when its recording was copied.
pub(super) fn show_folder(folder: &Path) -> Result<ExitStatus, Error> {
    show(&read_now(folder)?)
}

fn show(processes: &[(Process, Option<Recording>)]) -> Result<ExitStatus, Error> {
    let (text, is_growing) = describe_now(processes, &current_folder());
    output::answer(&text)?;
    Ok(if is_growing { ExitStatus::Found } else { ExitStatus::Fits })
}
