//! Failures of runs: a sentence each, and the next step.

mod machine;
mod setup;
mod slurm;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use diagnose::failure::ProgramFailure;
use thiserror::Error;

pub use self::machine::MachineError;
pub use self::setup::SetupError;
pub use self::slurm::SlurmError;

/// The failure of a run, or of its preparation. The text states the finding and [`Error::hint`] the next step.
#[derive(Debug, Error)]
pub enum Error {
    /// The program cannot be started.
    #[error("{0}")]
    Setup(#[from] SetupError),
    /// The program leaves nothing to report.
    #[error("the program {0}")]
    Program(Box<ProgramFailure>),
    /// A run directory cannot be written.
    #[error("cannot write the run folder `{}`: {source}", folder.display())]
    RunFolder {
        /// The folder.
        folder: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The folder for a run has other files.
    #[error("`{}` is not empty: a run is kept in a folder of its own", .0.display())]
    RunFolderInUse(PathBuf),
    /// A file cannot be read.
    #[error("cannot read `{}`: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A configuration file of the program's that is not changed.
    #[error("`{}` is not changed: {reason}", path.display())]
    OwnFile {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: options::EditError,
    },
    /// A file of a run has another content than expected.
    #[error("`{}` is damaged: {problem}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The place and the kind of the damage.
        problem: String,
    },
    /// The file for the figures of a running program cannot be opened.
    #[error("cannot write the figures to `{}`: {source}", path.display())]
    MetricsFile {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The address for the figures of a running program cannot be listened at.
    #[error("cannot listen at {address}: {source}")]
    MetricsAddress {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// Nothing is known of a job of Slurm.
    #[error("{0}")]
    Slurm(#[from] SlurmError),
    /// No process has this number.
    #[error("there is no process {0}")]
    NoProcess(u32),
    /// The environment of a process of another user may not be read.
    #[error("process {0} belongs to another user")]
    ProcessOfOthers(u32),
    /// The environment of a process may not be read, and belongs to no other user.
    #[error("the system refuses a look at process {0}")]
    ProcessHidden(u32),
    /// A process has no recording.
    #[error("process {0} is neither an `oomph run` nor a process under one")]
    NotInRun(u32),
    /// The folder of a process's run was removed.
    #[error("process {pid} was started by an `oomph run` whose recording in `{}` is gone", folder.display())]
    RunIsGone {
        /// The process.
        pid: u32,
        /// The folder.
        folder: PathBuf,
    },
    /// The system refuses a handler of signals.
    #[error("cannot watch for Ctrl-C: {0}")]
    Signals(io::Error),
    /// Ctrl-C ended the run.
    #[error("interrupted")]
    Interrupted,
    /// The system refuses to wait for a process.
    #[error("cannot wait for the program: {0}")]
    Wait(#[from] io::Error),
}

impl Error {
    /// Returns the next step for the user.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Error::Setup(error) => error.hint(),
            Error::Program(failure) => return Some(failure.hint()),
            Error::RunFolder { .. } => "is the disk full? --save DIR chooses another folder",
            Error::RunFolderInUse(_) => "name a new folder with --save",
            Error::Damaged { .. } => {
                "was it written to its end, and copied whole? Snapshots come from torch.cuda.memory._dump_snapshot(FILE)"
            }
            Error::MetricsFile { .. } => {
                "name a file in a folder that exists and may be written to; `:9400` serves the figures instead"
            }
            Error::Slurm(error) => error.hint(),
            Error::MetricsAddress { .. } => "name another port; port 0 takes a free one, which is printed",
            Error::NoProcess(_) | Error::NotInRun(_) => {
                "name the process id of a running `oomph run`, or of a program under it; `pgrep -af 'oomph run'` lists them"
            }
            Error::ProcessOfOthers(_) => "run the command as that user, or as root",
            Error::ProcessHidden(_) => {
                "is it a program under `oomph run`? `pgrep -af 'oomph run'` lists them; a container's first process may be out of reach, \
                 and `--cap-add SYS_PTRACE` gives a container the right to look at its own"
            }
            Error::RunIsGone { .. } => {
                "the run has ended; its last lines said where the recording lies, if it was kept"
            }
            Error::Unreadable { .. }
            | Error::OwnFile { .. }
            | Error::Signals(_)
            | Error::Interrupted
            | Error::Wait(_) => return None,
        };
        Some(hint.to_owned())
    }
}
