//! Environment variables that the commands read, and the current folder.

pub(crate) use wire::variable::PYTHON;

/// Returns the current folder; empty if it was removed.
pub(crate) fn current_folder() -> String {
    std::env::current_dir().unwrap_or_default().display().to_string()
}

/// True for a command of a program that `oomph run` records. The variable alone may be the user's.
pub(crate) fn is_in_real_run() -> bool {
    let has_folder = std::env::var_os(wire::variable::RUN).is_some_and(|folder| !folder.is_empty());
    let paths = std::env::var_os("PYTHONPATH").unwrap_or_default();
    has_folder && std::env::split_paths(&paths).any(|path| path.ends_with(drive::unpack::INJECT))
}

/// The width that `COLUMNS` states, as other tools read it.
pub(crate) fn stated_columns() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.parse().ok().filter(|columns| *columns > 0)
}

/// True if `NO_COLOR` asks for text without colours.
pub(crate) fn is_colour_unwanted() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}
