//! The commands that need Linux, with the start and the end of their processes. On other systems `elsewhere.rs` stands here.

use std::ffi::OsString;

use drive::cleanup::{self, watchdog};
use drive::guard::{descriptors, entering};

pub(crate) use drive::cleanup::temporary::finish_removals;

pub(super) use super::check::run as check;
pub(super) use super::fit::run as fit;
pub(super) use super::mcp::run as mcp;
pub(super) use super::now::{show_folder, show_process};
pub(super) use super::phantom::run as phantom;
pub(super) use super::record_into::run as record_into;
pub(super) use super::run::run;
pub(super) use super::slurm_job::explain as explain_job;
pub(super) use super::sweep::run as sweep;
pub(super) use super::top::run as top;
pub(super) use super::tune::run as tune;
pub(super) use super::watch::run as watch;

use super::makes_dry_runs;
use crate::args::Command;
use crate::error::Error;
use crate::exit::ExitStatus;
use crate::output;

/// Does the work of a process that oomph started for itself: the watchdog, or the entry into a private world. `None` for a user's command line.
pub(crate) fn serve_itself(line: &[OsString]) -> Option<ExitStatus> {
    if let Some((owner, places)) = watchdog::find_watched(line) {
        watchdog::watch(owner, places);
        return Some(ExitStatus::Fits);
    }
    let (spec, words) = entering::find_entering(line)?;
    output::say(&format!("the program could not be started: {}", entering::become_program(spec, words)));
    Some(ExitStatus::Failed)
}

/// Accepts a command, or a form of a command, that needs Linux.
#[expect(clippy::unnecessary_wraps, reason = "`elsewhere.rs` refuses it")]
pub(super) fn require_linux(_command: &'static str) -> Result<(), Error> {
    Ok(())
}

/// Sorts the inherited descriptors, before this process opens its own.
pub(super) fn prepare(command: &Command) {
    if makes_dry_runs(command) {
        descriptors::close_inherited();
    }
    if matches!(command, Command::Run(arguments) if arguments.retry.is_none()) {
        descriptors::note_passed();
    }
}

/// Ends the programs, removes the temporary folders and leaves the screen, before the process ends at a signal.
pub(super) fn leave_nothing() {
    cleanup::leave_nothing();
    super::top::leave_screen();
}
