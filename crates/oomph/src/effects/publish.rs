//! Writes a file whole or not at all: to a temporary file beside it, which is then renamed.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

use crate::error::Error;
use crate::system::{has_other_names, keep_owner, set_usual_permissions, takes_output};

/// The temporary file under way, which is removed if the process ends early.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Checks that `path` is writable, before long work on its content.
pub(crate) fn check_writable(path: &Path) -> Result<(), Error> {
    beside(path).map(drop)
}

/// Checks that no two outputs are one file, and that none is the file that standard output goes to: the later would replace the earlier.
pub(crate) fn check_apart(paths: &[&Path]) -> Result<(), Error> {
    for (index, path) in paths.iter().enumerate() {
        if takes_output(path) || paths[..index].iter().any(|other| place_of(other) == place_of(path)) {
            return Err(Error::SameOutput((*path).to_owned()));
        }
    }
    Ok(())
}

/// The whole path of a file, which may not exist yet.
fn place_of(path: &Path) -> PathBuf {
    let whole = path.canonicalize();
    let beside = || Some(folder_of(path).canonicalize().ok()?.join(path.file_name()?));
    whole.ok().or_else(beside).unwrap_or_else(|| path.to_owned())
}

/// Writes `text` to `path`, over an existing file.
pub(crate) fn write_whole(path: &Path, text: &str) -> Result<(), Error> {
    write(path, beside(path)?, text)
}

/// Writes `text` over the file at `path`, which keeps its permissions and, if root writes, its owner. For a link, the
/// target is written. A file with several names is written in place and keeps them. A file without the right to write
/// fails.
pub(crate) fn replace(path: &Path, text: &str) -> Result<(), Error> {
    let failed = |source| Error::Unwritable { path: path.to_owned(), source };
    let path = path.canonicalize().map_err(failed)?;
    let found = fs::OpenOptions::new().write(true).open(&path).and_then(|file| file.metadata()).map_err(failed)?;
    if has_other_names(&found) {
        return fs::write(&path, text).map_err(failed);
    }
    let file = beside(&path)?;
    // First, because a change of owner clears some permissions.
    keep_owner(file.as_file(), &found);
    file.as_file().set_permissions(found.permissions()).map_err(failed)?;
    write(&path, file, text)
}

fn write(path: &Path, mut file: NamedTempFile, text: &str) -> Result<(), Error> {
    let failed = |source| Error::Unwritable { path: path.to_owned(), source };
    set_unfinished(Some(file.path().to_owned()));
    let written = file.write_all(text.as_bytes()).and_then(|()| file.as_file().sync_all()).map_err(failed);
    let written = written.and_then(|()| file.persist(path).map(drop).map_err(|error| failed(error.error)));
    set_unfinished(None);
    written
}

/// Makes an empty file beside `path`. Only a file may be replaced.
fn beside(path: &Path) -> Result<NamedTempFile, Error> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(Error::NotAFile(path.to_owned()));
    }
    temporary(folder_of(path)).map_err(|source| Error::Unwritable { path: path.to_owned(), source })
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes a temporary file with the permissions of any new file: by default temporary files are private.
fn temporary(folder: &Path) -> std::io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".oomph-").suffix(".tmp");
    set_usual_permissions(&mut builder);
    builder.tempfile_in(folder)
}

/// Removes the unfinished file; for the end of the process.
pub(crate) fn abandon() {
    let unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).take();
    // The file may have been renamed meanwhile.
    let _: Option<std::io::Result<()>> = unfinished.map(fs::remove_file);
}

fn set_unfinished(path: Option<PathBuf>) {
    *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = path;
}
