//! Finds the files to lint: named files, and in folders the Python files and notebooks that git does not ignore.
//!
//! # Note [Left out]
//! In a folder, hidden files, ignored files, virtual environments (known by their `pyvenv.cfg`), installed packages and
//! `node_modules` are left out. A named file is always linted.

use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::{DirEntry, WalkBuilder};
use lint::SourceFile;
use report::words::relative;

use super::settings::LintSettings;
use crate::args::Lint;
use crate::effects::patience::{PatientInput, Wait};
use crate::error::{Error, LintError};
use crate::system::{resolve, spell_path};

const STANDARD_INPUT: &str = "-";
/// The names of folders with the files of others.
const OTHERS: [&str; 2] = ["node_modules", "site-packages"];
/// The file at the top of a virtual environment.
const ENVIRONMENT: &str = "pyvenv.cfg";
const BYTE_ORDER_MARK: &str = "\u{feff}";
/// One byte more than `lint` accepts, which then reports a larger file. The limit also ends the reading of a device.
const MOST_BYTES: u64 = (16 << 20) + 1;

/// The files to lint.
pub(super) struct Files {
    /// Sorted by path.
    pub(super) files: Vec<File>,
    /// Remarks about unreadable folders.
    pub(super) notes: Vec<String>,
}

pub(super) struct File {
    pub(super) path: PathBuf,
    /// The name in reports: the absolute path, or the name of standard input.
    pub(super) name: String,
    /// True if the user named the file itself, not a folder above.
    pub(super) is_named: bool,
    pub(super) is_standard_input: bool,
}

impl File {
    fn new(path: PathBuf, is_named: bool) -> File {
        File { name: spell_path(&path), path, is_named, is_standard_input: false }
    }

    /// Reads the file.
    pub(super) fn read(&self) -> Result<Text, String> {
        let bytes = self.bytes().map_err(|error| format!("cannot be read: {error}"))?;
        let is_notebook = self.path.extension().is_some_and(|it| it == "ipynb");
        let source = if is_notebook { SourceFile::notebook(&bytes) } else { SourceFile::python(&bytes) };
        let mark = if bytes.starts_with(BYTE_ORDER_MARK.as_bytes()) { BYTE_ORDER_MARK } else { "" };
        Ok(Text { source: source.map_err(|error| error.to_string())?, mark })
    }

    fn bytes(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        if self.is_standard_input {
            io::stdin().lock().take(MOST_BYTES).read_to_end(&mut bytes)?;
        } else {
            let wait = Wait::for_writer(&self.path);
            PatientInput::new(fs::File::open(&self.path)?, wait).take(MOST_BYTES).read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    }

    /// Returns the name in a diff, relative to `folder`. For a symlink, the target's name: the target is the file that gets edited.
    pub(super) fn name_in_diff(&self, folder: &str) -> String {
        let real = resolve(&self.path).ok().filter(|_| self.path.is_symlink());
        let name = real.map_or_else(|| self.name.clone(), |path| spell_path(&path));
        relative(&name, folder).to_owned()
    }
}

/// The content of a file.
pub(super) struct Text {
    pub(super) source: SourceFile,
    /// The byte order mark, which is no part of the source; empty without one.
    pub(super) mark: &'static str,
}

/// Finds the files; `folder` is the current folder.
pub(super) fn find(arguments: &Lint, settings: &LintSettings, folder: &Path) -> Result<Files, Error> {
    let patterns = Patterns::new(arguments, settings, folder)?;
    let here = [PathBuf::from(".")];
    let named = if arguments.paths.is_empty() { &here[..] } else { &arguments.paths };
    let mut found = Files { files: Vec::new(), notes: Vec::new() };
    for path in named {
        found.add(arguments, path, folder, &patterns)?;
    }
    found.files.sort_by(|one, other| one.path.cmp(&other.path));
    found.files.dedup_by(|later, earlier| {
        let is_same = later.path == earlier.path;
        earlier.is_named |= is_same && later.is_named;
        is_same
    });
    if found.files.is_empty() {
        return Err(Error::from(LintError::NothingToLint(named.to_vec())));
    }
    Ok(found)
}

impl Files {
    fn add(&mut self, arguments: &Lint, named: &Path, folder: &Path, patterns: &Patterns) -> Result<(), Error> {
        if named.as_os_str() == STANDARD_INPUT {
            let name = arguments.stdin_filename.clone().unwrap_or_else(|| PathBuf::from("<stdin>"));
            self.files.push(File { is_standard_input: true, ..File::new(name, true) });
            return Ok(());
        }
        let path = plain(&folder.join(named));
        match fs::metadata(&path) {
            Ok(found) if found.is_dir() => self.walk(arguments, &path, patterns),
            Ok(_) => self.files.push(File::new(path, true)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(Error::from(LintError::NothingThere(named.to_owned())));
            }
            Err(source) => return Err(Error::Unreadable { path: named.to_owned(), source }),
        }
        Ok(())
    }

    fn walk(&mut self, arguments: &Lint, root: &Path, patterns: &Patterns) {
        let respects = !arguments.no_gitignore;
        let excluded = patterns.excluded.clone();
        let walk = WalkBuilder::new(root)
            .git_ignore(respects)
            .git_exclude(respects)
            .git_global(respects)
            .parents(respects)
            .require_git(false)
            .filter_entry(move |entry| entry.depth() == 0 || !is_left_out(entry, &excluded))
            .build();
        for entry in walk {
            match entry {
                Ok(entry) if patterns.wants(&entry) => self.files.push(File::new(entry.into_path(), false)),
                Ok(_) => {}
                Err(error) => self.notes.push(format!("not read: {error}")),
            }
        }
    }
}

/// Returns a path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let climbs = path.components().any(|part| part == Component::ParentDir);
    let real = resolve(path).ok().filter(|_| climbs);
    real.unwrap_or_else(|| path.components().collect())
}

/// Note [Left out].
fn is_left_out(entry: &DirEntry, excluded: &Gitignore) -> bool {
    let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
    let name = entry.file_name();
    let is_others = is_folder && (OTHERS.iter().any(|it| *it == name) || entry.path().join(ENVIRONMENT).is_file());
    is_others || excluded.matched(entry.path(), is_folder).is_ignore()
}

/// Checks whether a file is left out of its folder: by the settings, or as part of an environment.
pub(super) fn is_left_out_of(settings: &LintSettings, path: &Path) -> Result<bool, Error> {
    let excluded = matcher(&settings.folder, &settings.table.exclude)?;
    let is_within = path.starts_with(&settings.folder);
    let is_excluded = is_within && excluded.matched_path_or_any_parents(path, false).is_ignore();
    let is_others = |folder: &Path| {
        let name = folder.file_name().unwrap_or_default();
        OTHERS.iter().any(|it| *it == name) || folder.join(ENVIRONMENT).is_file()
    };
    Ok(is_excluded || path.ancestors().skip(1).any(is_others))
}

/// The patterns for files in folders.
struct Patterns {
    included: Gitignore,
    excluded: Gitignore,
}

impl Patterns {
    /// Patterns of the settings are relative to their file's folder, those of the command line to the current folder.
    fn new(arguments: &Lint, settings: &LintSettings, folder: &Path) -> Result<Patterns, Error> {
        let usual = ["*.py".to_owned(), "*.ipynb".to_owned()];
        let included = match (&arguments.include[..], &settings.table.include[..]) {
            ([], []) => matcher(folder, &usual)?,
            ([], of_settings) => matcher(&settings.folder, of_settings)?,
            (of_line, _) => matcher(folder, of_line)?,
        };
        let excluded = match &arguments.exclude[..] {
            [] => matcher(&settings.folder, &settings.table.exclude)?,
            of_line => matcher(folder, of_line)?,
        };
        Ok(Patterns { included, excluded })
    }

    fn wants(&self, entry: &DirEntry) -> bool {
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        is_file && self.included.matched(entry.path(), false).is_ignore()
    }
}

fn matcher(folder: &Path, patterns: &[String]) -> Result<Gitignore, Error> {
    let failed = |pattern: &str, error: ignore::Error| {
        Error::from(LintError::Pattern { pattern: pattern.to_owned(), problem: error.to_string() })
    };
    let mut builder = GitignoreBuilder::new(folder);
    for pattern in patterns {
        builder.add_line(None, pattern).map_err(|error| failed(pattern, error))?;
    }
    builder.build().map_err(|error| failed(&patterns.join(", "), error))
}
