//! A folder is one job: what its processes left, found below it, or a run that `oomph check --save` kept.

use std::fs;
use std::path::{Path, PathBuf};

use diagnose::{Contents, ExplainInput};

use super::contents::{self, Read};
use super::{input, source};
use crate::error::Error;
use crate::{output, rundir};

/// How deep logs lie: `torchrun --log-dir` makes `JOB/attempt_0/RANK/stderr.log`.
const DEPTH: usize = 4;
/// More files than any job leaves: past this it is another folder than the user means.
const FILES: usize = 10_000;

/// Everything in `folder` that oomph knows. What it does not know, or cannot read, is said and left out.
pub(super) fn read(folder: &Path) -> Result<Vec<ExplainInput>, Error> {
    if rundir::is_run(folder) {
        return read_run(folder);
    }
    let files = files(folder)?;
    let mut inputs = Vec::new();
    for file in &files {
        match read_part(file) {
            Ok(found) => inputs.extend(found),
            Err(error) => output::say(&format!("warning: left out: {error}")),
        }
    }
    if inputs.is_empty() {
        return Err(Error::NothingInFolder { folder: folder.to_owned(), files: files.len() });
    }
    Ok(inputs)
}

/// A run that oomph recorded, and what the program printed in it.
fn read_run(folder: &Path) -> Result<Vec<ExplainInput>, Error> {
    let launch = rundir::read_launch(folder)?;
    let run = input(folder, Contents::Run(rundir::read(folder)?, Some(launch)));
    let log = folder.join(rundir::OUTPUT);
    let printed = if log.is_file() { read_part(&log)? } else { None };
    Ok([run].into_iter().chain(printed).collect())
}

/// A file that nobody named says something, or it does not belong to the crash.
fn read_part(file: &Path) -> Result<Option<ExplainInput>, Error> {
    Ok(match contents::read(file, source::open(file)?)? {
        Read::Known(Contents::Text(artifacts)) if artifacts.is_empty() => None,
        Read::Known(contents) => Some(input(file, contents)),
        Read::Empty | Read::Foreign { .. } => None,
    })
}

/// The files below `folder`, by path; hidden ones are not of the job, and links could lead anywhere.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
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
            return Err(Error::TooManyFiles { folder: folder.clone(), limit: FILES });
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
