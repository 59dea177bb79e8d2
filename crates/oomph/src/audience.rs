//! The reader of the output: a person, or a coding agent. An agent gets one compact object, and no progress.

use std::ffi::OsString;
use std::sync::OnceLock;

use crate::args::asks_for_agent;
use crate::environment;

static IS_AGENT: OnceLock<bool> = OnceLock::new();

/// Finds the reader by the command line and the environment.
pub(crate) fn find(line: &[OsString]) {
    // A process has one reader.
    let _ = IS_AGENT.set(asks_for_agent(line) || environment::names_agent());
}

/// True for a coding agent.
pub(crate) fn is_agent() -> bool {
    IS_AGENT.get().copied().unwrap_or_default()
}
