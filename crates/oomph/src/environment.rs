//! Environment variables that the commands read, and the current folder.

pub(crate) use wire::variable::PYTHON;

/// Returns the current folder; empty if it was removed.
pub(crate) fn current_folder() -> String {
    std::env::current_dir().unwrap_or_default().display().to_string()
}

/// True for a command of a program that `oomph run` records.
pub(crate) fn is_in_real_run() -> bool {
    std::env::var_os(wire::variable::RUN).is_some_and(|folder| !folder.is_empty())
}
