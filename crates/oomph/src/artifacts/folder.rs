//! Reads a folder as one job: the files of its processes, or a run saved by `oomph check --save`.

use std::fs;
use std::path::{Path, PathBuf};

use base::run_dir;
use diagnose::{ExplainInput, InputContents};

use super::contents;
use super::{input, source};
use crate::error::{Error, InputError};
use crate::output;

/// The depth of logs: `torchrun --log-dir` makes `JOB/attempt_0/RANK/stderr.log`.
const DEPTH: usize = 4;
/// More files than any job leaves: a larger folder was named by mistake.
const FILES: usize = 10_000;

/// Reads all known files in `folder`. Unreadable files are left out with a warning.
pub(super) fn read(folder: &Path) -> Result<Vec<ExplainInput>, Error> {
    if run_dir::is_run(folder) {
        return read_run(folder);
    }
    let files = list_files(folder)?;
    let mut inputs = Vec::new();
    for file in &files {
        match read_part(file) {
            Ok(found) => inputs.extend(found),
            Err(error) => output::say(&format!("warning: left out: {error}")),
        }
    }
    if inputs.is_empty() {
        return Err(Error::from(InputError::NothingInFolder { folder: folder.to_owned(), files: files.len() }));
    }
    Ok(inputs)
}

/// Reads a recorded run and the program's output.
fn read_run(folder: &Path) -> Result<Vec<ExplainInput>, Error> {
    let launch = run_dir::read_launch(folder)?;
    let run = input(folder, InputContents::Run(run_dir::read(folder)?, Some(launch)));
    let log = folder.join(wire::file::OUTPUT);
    let printed = if log.is_file() { read_part(&log)? } else { None };
    Ok([run].into_iter().chain(printed).collect())
}

/// Reads a file that the user did not name; texts without an error do not belong to the crash.
fn read_part(file: &Path) -> Result<Option<ExplainInput>, Error> {
    Ok(match contents::accept(file, contents::read(file, source::open(file)?)?) {
        Ok(InputContents::Text(artifacts)) if artifacts.is_empty() => None,
        Ok(contents) => Some(input(file, contents)),
        // A folder of a job holds files of all kinds.
        Err(_) => None,
    })
}

/// Lists the files below `folder` by path, without hidden files and links.
fn list_files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for path in entries(&folder)? {
            let kind = fs::symlink_metadata(&path).map_err(|source| unreadable(&path, source))?.file_type();
            if kind.is_file() {
                found.push(path);
            } else if kind.is_dir() && depth < DEPTH {
                folders.push((path, depth + 1));
            }
        }
        if found.len() > FILES {
            return Err(Error::from(InputError::TooManyFiles { folder: folder.clone(), limit: FILES }));
        }
    }
    found.sort();
    Ok(found)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = fs::read_dir(folder).map_err(|source| unreadable(folder, source))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>();
    let paths = paths.map_err(|source| unreadable(folder, source))?;
    Ok(paths.into_iter().filter(|path| !is_hidden(path)).collect())
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

fn unreadable(path: &Path, source: std::io::Error) -> Error {
    Error::Unreadable { path: path.to_owned(), source }
}
