//! Failures of runs: a sentence each, and the next step.

mod setup;

use std::io;
use std::path::PathBuf;

use diagnose::failure::ProgramFailure;
use thiserror::Error;

pub use self::setup::SetupError;

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
    /// A file of a run has another content than expected.
    #[error("`{}` is damaged: {problem}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The place and the kind of the damage.
        problem: String,
    },
    /// The system refuses a handler of signals.
    #[error("cannot watch for Ctrl-C: {0}")]
    Signals(#[from] ctrlc::Error),
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
            Error::Unreadable { .. } | Error::Signals(_) | Error::Interrupted | Error::Wait(_) => return None,
        };
        Some(hint.to_owned())
    }
}
