//! The reasons why nothing is known of a job of Slurm.

use std::io;

use thiserror::Error;

/// The reason why a job cannot be explained.
#[derive(Debug, Error)]
pub enum SlurmError {
    /// Slurm is not installed.
    #[error("`scontrol` and `sacct` are not on the search path: this machine has no commands of Slurm")]
    NoCommands,
    /// Neither command knows the job.
    #[error("Slurm knows no job {id}: {answer}")]
    UnknownJob {
        /// The id.
        id: String,
        /// The last words of the commands.
        answer: String,
    },
    /// The log of the job cannot be read here.
    #[error("the log of job {id} cannot be read: `{path}`: {source}")]
    Log {
        /// The id.
        id: String,
        /// The file.
        path: String,
        /// The system's error.
        source: io::Error,
    },
}

impl SlurmError {
    /// The next step.
    pub fn hint(&self) -> &'static str {
        match self {
            SlurmError::NoCommands => "run this on a login node, or name the job's log: `oomph explain slurm-123.out`",
            SlurmError::UnknownJob { .. } => {
                "the controller forgets a job some minutes after its end (MinJobAge), and `sacct` has it only with accounting: name the job's log, `oomph explain slurm-123.out`"
            }
            SlurmError::Log { .. } => "run this where the file is, or name a copy of it: `oomph explain LOG`",
        }
    }
}
