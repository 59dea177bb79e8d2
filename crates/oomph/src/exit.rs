//! The exit status of every command.

use std::process::ExitCode;

/// An exit status. The numbers are a contract with scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    /// The program fits; nothing was found.
    Fits,
    /// The program does not fit; something was found.
    Found,
    /// oomph could not do its work.
    Failed,
    /// The status of a program that oomph only started, or of a signal.
    Programs(u8),
}

impl ExitStatus {
    /// The status after a signal to oomph, as a shell states it.
    pub(crate) fn of_signal(signal: i32) -> ExitStatus {
        ExitStatus::Programs(u8::try_from(128 + signal).unwrap_or(u8::MAX))
    }

    /// The number.
    pub(crate) fn code(self) -> u8 {
        match self {
            ExitStatus::Fits => 0,
            ExitStatus::Found => 1,
            ExitStatus::Failed => 2,
            ExitStatus::Programs(status) => status,
        }
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> ExitCode {
        ExitCode::from(status.code())
    }
}
