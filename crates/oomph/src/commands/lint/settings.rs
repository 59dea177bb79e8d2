//! The settings of `lint`: `[lint]` in `oomph.toml`, `[tool.oomph.lint]` in `pyproject.toml`. The nearest file counts, from the current
//! folder upwards; in one folder, `oomph.toml` does. The command line comes before both.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use lint::{LintTable, Options, Selection, parse_settings};
use report::lint::Certainty;
use trace::Bytes;

use crate::args::{ALL, FixMode, Lint, parse_rule};
use crate::effects::whole_file::{self, Expected};
use crate::error::{Error, LintError};

/// A table of settings takes some lines.
const SETTINGS: Expected = Expected { words: "settings of oomph", most: Bytes::from_mib(16) };
const OWN_FILE: &str = "oomph.toml";
const PROJECT_FILE: &str = "pyproject.toml";

/// The settings of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct LintSettings {
    pub(super) table: LintTable,
    /// The folder of the file; paths and patterns are relative to this folder.
    pub(super) folder: PathBuf,
}

impl LintSettings {
    /// Finds the settings for `folder`.
    pub(super) fn find(arguments: &Lint, folder: &Path) -> Result<LintSettings, Error> {
        let none = LintSettings { folder: folder.to_owned(), ..LintSettings::default() };
        if arguments.isolated {
            return Ok(none);
        }
        if let Some(path) = &arguments.config {
            let found = read(&folder.join(path))?;
            return found.ok_or_else(|| {
                Error::from(LintError::Settings { path: path.clone(), problem: "there is no such file".to_owned() })
            });
        }
        for folder in folder.ancestors() {
            for name in [OWN_FILE, PROJECT_FILE] {
                if let Some(found) = read(&folder.join(name))? {
                    return Ok(found);
                }
            }
        }
        Ok(none)
    }

    /// Returns the rules to apply.
    pub(super) fn options(&self, arguments: &Lint) -> Options {
        let select = match (&arguments.select, arguments.pedantic, &self.table.select, self.table.pedantic) {
            (Some(names), ..) | (None, false, Some(names), _) => selection(names),
            (None, true, ..) | (None, _, None, true) => Selection::All,
            (None, false, None, false) => Selection::Default,
        };
        let ignore = self.table.ignore.iter().chain(&arguments.ignore).cloned().collect();
        Options {
            select,
            ignore,
            ignores_suppressions: arguments.no_suppressions,
            least_certainty: arguments.certainty.map(Certainty::from),
        }
    }

    /// Returns the use of fixes.
    pub(super) fn fix_mode(&self, arguments: &Lint) -> FixMode {
        arguments.fix_mode(self.table.unsafe_fixes)
    }

    /// Returns the baseline that hides findings, unless a baseline is being written.
    pub(super) fn baseline_to_use(&self, arguments: &Lint) -> Option<PathBuf> {
        if arguments.write_baseline.is_some() {
            return None;
        }
        arguments.baseline.clone().or_else(|| self.table.baseline.as_ref().map(|path| self.folder.join(path)))
    }
}

fn selection(names: &[String]) -> Selection {
    if names.iter().any(|name| name == ALL) { Selection::All } else { Selection::Only(names.to_vec()) }
}

/// Reads the settings of a file; `None` if the file does not exist, or a project's file has no table for oomph.
fn read(path: &Path) -> Result<Option<LintSettings>, Error> {
    let text = match whole_file::read_text(path, SETTINGS) {
        Ok(text) => text,
        Err(Error::Unreadable { source, .. }) if source.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let is_project = path.file_name().is_some_and(|name| name == PROJECT_FILE);
    let table = parse_settings(&text, is_project)
        .map_err(|problem| Error::from(LintError::Settings { path: path.to_owned(), problem }))?;
    table.map(|table| checked(path, table)).transpose()
}

fn checked(path: &Path, table: LintTable) -> Result<LintSettings, Error> {
    let selected = table.select.iter().flatten().filter(|name| *name != ALL);
    match selected.chain(&table.ignore).find_map(|name| parse_rule(name).err()) {
        Some(problem) => Err(Error::from(LintError::Settings { path: path.to_owned(), problem })),
        None => Ok(LintSettings { table, folder: path.parent().unwrap_or(Path::new("")).to_owned() }),
    }
}
