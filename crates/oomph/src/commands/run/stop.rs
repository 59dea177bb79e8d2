//! Reasons to end a series of runs.

use diagnose::NoRetry;

use crate::error::Error;

/// The reason for no further run.
pub(super) enum Stop {
    /// Memory did not end the last run, or the user asked for the end.
    Done,
    /// A reason for the user.
    No(String),
    /// This signal ended the search.
    Interrupted(i32),
    /// oomph failed.
    Failed(Error),
}

impl From<NoRetry> for Stop {
    fn from(why: NoRetry) -> Stop {
        Stop::No(why.to_string())
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Failed(error)
    }
}
