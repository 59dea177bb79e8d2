//! The settings of `lint`: `[lint]` in `oomph.toml`, `[tool.oomph.lint]` in `pyproject.toml`. The nearest file counts, from this folder
//! upwards; beside each other, `oomph.toml` does. The command line goes before both.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use lint::{Options, Selection};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::arguments::{ALL, Lint, Mends, parse_rule};
use crate::error::Error;

const OWN_FILE: &str = "oomph.toml";
const PROJECT_FILE: &str = "pyproject.toml";

/// What the file says.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct Settings {
    select: Option<Vec<String>>,
    ignore: Vec<String>,
    pedantic: bool,
    pub(super) include: Vec<String>,
    pub(super) exclude: Vec<String>,
    unsafe_fixes: bool,
    baseline: Option<PathBuf>,
    /// The folder of the file, which its paths and patterns count from.
    #[serde(skip)]
    pub(super) folder: PathBuf,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Own {
    #[serde(default)]
    lint: Option<Settings>,
}

/// Other tools' tables are none of our business.
#[derive(Deserialize)]
struct Project {
    tool: Option<Tool>,
}

#[derive(Deserialize)]
struct Tool {
    oomph: Option<Own>,
}

impl Settings {
    /// Those that hold in `folder`.
    pub(super) fn find(arguments: &Lint, folder: &Path) -> Result<Settings, Error> {
        let none = Settings { folder: folder.to_owned(), ..Settings::default() };
        if arguments.isolated {
            return Ok(none);
        }
        if let Some(path) = &arguments.config {
            let found = read(&folder.join(path))?;
            return found
                .ok_or_else(|| Error::Settings { path: path.clone(), problem: "there is no such file".to_owned() });
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

    /// Which rules are asked.
    pub(super) fn options(&self, arguments: &Lint) -> Options {
        let select = match (&arguments.select, arguments.pedantic, &self.select, self.pedantic) {
            (Some(names), ..) | (None, false, Some(names), _) => selection(names),
            (None, true, ..) | (None, _, None, true) => Selection::All,
            (None, false, None, false) => Selection::Default,
        };
        let ignore = self.ignore.iter().chain(&arguments.ignore).cloned().collect();
        Options { select, ignore, ignores_suppressions: arguments.no_suppressions }
    }

    /// What becomes of fixes.
    pub(super) fn mends(&self, arguments: &Lint) -> Mends {
        arguments.mends(self.unsafe_fixes)
    }

    /// The baseline that hides findings, unless it is being written.
    pub(super) fn baseline_to_use(&self, arguments: &Lint) -> Option<PathBuf> {
        if arguments.write_baseline.is_some() {
            return None;
        }
        arguments.baseline.clone().or_else(|| self.baseline.as_ref().map(|path| self.folder.join(path)))
    }
}

fn selection(names: &[String]) -> Selection {
    if names.iter().any(|name| name == ALL) { Selection::All } else { Selection::Only(names.to_vec()) }
}

/// The settings of a file; `None` if it is not there, or is a project's file that says nothing of us.
fn read(path: &Path) -> Result<Option<Settings>, Error> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(Error::Unreadable { path: path.to_owned(), source }),
    };
    let settings = if path.file_name().is_some_and(|name| name == PROJECT_FILE) {
        parse::<Project>(path, &text)?.tool.and_then(|tool| tool.oomph).map(|own| own.lint.unwrap_or_default())
    } else {
        Some(parse::<Own>(path, &text)?.lint.unwrap_or_default())
    };
    settings.map(|settings| checked(path, settings)).transpose()
}

fn parse<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, Error> {
    toml::from_str(text).map_err(|error| {
        let line = error.span().map(|span| text.get(..span.start).unwrap_or_default().matches('\n').count() + 1);
        let line = line.map_or_else(String::new, |line| format!("line {line}: "));
        Error::Settings { path: path.to_owned(), problem: format!("{line}{}", error.message()) }
    })
}

fn checked(path: &Path, mut settings: Settings) -> Result<Settings, Error> {
    path.parent().unwrap_or(Path::new("")).clone_into(&mut settings.folder);
    let selected = settings.select.iter().flatten().filter(|name| *name != ALL);
    match selected.chain(&settings.ignore).find_map(|name| parse_rule(name).err()) {
        Some(problem) => Err(Error::Settings { path: path.to_owned(), problem }),
        None => Ok(settings),
    }
}
