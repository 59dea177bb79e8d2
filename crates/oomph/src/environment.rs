//! Environment variables that the commands read, and the current folder.

use std::num::NonZeroU32;
use std::path::Path;

pub(crate) use wire::variable::PYTHON;

use crate::system::spell_path;

/// Returns the current folder; empty if it was removed.
pub(crate) fn current_folder() -> String {
    spell_path(&std::env::current_dir().unwrap_or_default())
}

/// True for a command of a program that `oomph run` records. The variable alone may be the user's.
pub(crate) fn is_in_real_run() -> bool {
    let has_folder = std::env::var_os(wire::variable::RUN).is_some_and(|folder| !folder.is_empty());
    let paths = std::env::var_os("PYTHONPATH").unwrap_or_default();
    has_folder && std::env::split_paths(&paths).any(|path| path.ends_with(wire::file::INJECT))
}

/// The job of Slurm that this process belongs to.
pub(crate) fn slurm_job() -> Option<NonZeroU32> {
    std::env::var("SLURM_JOB_ID").ok()?.parse().ok()
}

/// True for a source file that may be read: `OOMPH_SOURCES` names the folder of all of them.
pub(crate) fn may_read_source(file: &Path) -> bool {
    let folder = std::env::var_os(wire::variable::SOURCES).filter(|folder| !folder.is_empty());
    folder.is_none_or(|folder| file.canonicalize().is_ok_and(|file| file.starts_with(folder)))
}

/// True for a command of a program that is in a dry run.
pub(crate) fn is_in_dry_run() -> bool {
    std::env::var_os(wire::variable::RUN_DIR).is_some_and(|folder| !folder.is_empty())
}

/// The width of the terminal in `COLUMNS`.
pub(crate) fn stated_columns() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.parse().ok().filter(|columns| *columns > 0)
}

/// True if `NO_COLOR` asks for text without colours.
pub(crate) fn is_colour_unwanted() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// Variables of coding agents in the environment of their commands, as the Hugging Face Hub's client reads them.
pub(crate) const AGENTS: [&str; 4] = ["CLAUDECODE", "CODEX_SANDBOX", "AI_AGENT", "CURSOR_AGENT"];

/// True under a coding agent: `OOMPH_AGENT` or a variable of an agent is set. `OOMPH_AGENT=0` stands for a person.
pub(crate) fn names_agent() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    match std::env::var_os(wire::variable::AGENT) {
        Some(stated) if !stated.is_empty() => stated != "0",
        _ => AGENTS.into_iter().any(is_set),
    }
}
