//! Errors of `lint`.

use std::path::PathBuf;

use thiserror::Error;

/// Why nothing can be linted.
#[derive(Debug, Error)]
pub(crate) enum LintError {
    #[error("there is nothing at `{}`", .0.display())]
    NothingThere(PathBuf),
    #[error("there is no Python file and no notebook to lint in {}", join_paths(.0))]
    NothingToLint(Vec<PathBuf>),
    #[error("`{pattern}` is no pattern: {problem}")]
    Pattern { pattern: String, problem: String },
    #[error("the settings `{}` cannot be used: {problem}", path.display())]
    Settings { path: PathBuf, problem: String },
    #[error("`{}` is no baseline of lint: {problem}", path.display())]
    Baseline { path: PathBuf, problem: String },
    #[error("`{}` exists and is not a lint baseline; it was not changed", .0.display())]
    NoBaseline(PathBuf),
}

impl LintError {
    /// Returns the next step for the user.
    pub(super) fn hint(&self) -> &'static str {
        match self {
            LintError::NothingThere(_) => "name files or folders; `oomph lint` alone reads this folder",
            LintError::NothingToLint(_) => {
                "hidden folders, environments and files that git ignores are left out; --no-gitignore, --include and --exclude change that"
            }
            LintError::Pattern { .. } => "patterns are those of `.gitignore`, such as `*.py` or `build/`",
            LintError::Settings { .. } => {
                "`[lint]` in oomph.toml and `[tool.oomph.lint]` in pyproject.toml may have: select, ignore, pedantic, include, exclude, unsafe-fixes, baseline"
            }
            LintError::Baseline { .. } => "--write-baseline FILE writes one",
            LintError::NoBaseline(_) => "name a new file behind --write-baseline, and the files to lint after it",
        }
    }
}

fn join_paths(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| format!("`{}`", path.display())).collect::<Vec<_>>().join(", ")
}
