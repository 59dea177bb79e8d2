//! The commands that need Linux, on other systems: one sentence, and the next step.

use std::ffi::OsString;
use std::path::Path;

use base::SetupError;

use crate::args::{Check, Command, Explain, Fit, Mcp, Phantom, RecordInto, Run, Sweep, Top, Tune, WatchSaves};
use crate::error::{Error, InputError};
use crate::exit::ExitStatus;

const SYSTEM: &str = if cfg!(target_os = "windows") {
    "Windows"
} else if cfg!(target_os = "macos") {
    "macOS"
} else {
    std::env::consts::OS
};

/// Returns `None`: no process of oomph's starts another.
pub(crate) fn serve_itself(_line: &[OsString]) -> Option<ExitStatus> {
    None
}

/// Refuses a command, or a form of a command, that needs Linux.
pub(super) fn require_linux(command: &'static str) -> Result<(), Error> {
    refuse(command)
}

/// Does nothing: no command here starts a program.
pub(super) fn prepare(_command: &Command) {}

/// Does nothing: no command here starts a program or makes a folder.
pub(super) fn leave_nothing() {}

/// Does nothing: no command here makes a folder.
pub(crate) fn finish_removals() {}

fn refuse<T>(command: &'static str) -> Result<T, Error> {
    Err(SetupError::OtherSystem { command, system: SYSTEM }.into())
}

pub(super) fn check(_arguments: &Check, _after_dashes: bool) -> Result<ExitStatus, Error> {
    refuse("check")
}

pub(super) fn fit(_arguments: &Fit, _after_dashes: bool) -> Result<ExitStatus, Error> {
    refuse("fit")
}

pub(super) fn sweep(_arguments: &Sweep, _after_dashes: bool) -> Result<ExitStatus, Error> {
    refuse("sweep")
}

pub(super) fn watch(_arguments: &WatchSaves, _after_dashes: bool) -> Result<ExitStatus, Error> {
    refuse("watch")
}

pub(super) fn tune(_arguments: &Tune) -> Result<ExitStatus, Error> {
    refuse("tune")
}

pub(super) fn run(_arguments: &Run, _after_dashes: bool) -> Result<ExitStatus, Error> {
    refuse("run")
}

pub(super) fn record_into(_arguments: &RecordInto) -> Result<ExitStatus, Error> {
    refuse("record-into")
}

pub(super) fn top(_arguments: &Top) -> Result<ExitStatus, Error> {
    refuse("top")
}

pub(super) fn phantom(_arguments: &Phantom) -> Result<ExitStatus, Error> {
    refuse("phantom")
}

pub(super) fn mcp(_arguments: &Mcp) -> Result<ExitStatus, Error> {
    refuse("mcp")
}

pub(super) fn show_process(_pid: u32, _arguments: &Explain) -> Result<ExitStatus, Error> {
    refuse("explain --pid")
}

pub(super) fn show_folder(folder: &Path, _arguments: &Explain) -> Result<ExitStatus, Error> {
    Err(InputError::OpenRecording(folder.to_owned()).into())
}

pub(super) fn explain_job(_id: &str, _arguments: &Explain) -> Result<ExitStatus, Error> {
    refuse("explain --slurm-job")
}
