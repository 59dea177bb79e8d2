//! Environment variables that the commands read, and the current folder.

pub(crate) use wire::variable::PYTHON;

/// Returns the current folder; empty if it was removed.
pub(crate) fn current_folder() -> String {
    std::env::current_dir().unwrap_or_default().display().to_string()
}
