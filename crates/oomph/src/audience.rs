//! The reader of the output: a person, or a coding agent. An agent gets one compact object, and no progress.

use std::sync::OnceLock;

static IS_AGENT: OnceLock<bool> = OnceLock::new();

/// Sets the reader, before the arguments are parsed: their defaults follow from the reader.
pub(crate) fn set(is_agent: bool) {
    // A process has one reader.
    let _ = IS_AGENT.set(is_agent);
}

/// True for a coding agent.
pub(crate) fn is_agent() -> bool {
    IS_AGENT.get().copied().unwrap_or_default()
}
