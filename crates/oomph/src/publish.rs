//! Writes a file whole or not at all: beside its place first, then renamed to it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

use crate::error::Error;

/// What is being written, so that whoever ends the process first can remove it.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Whether `path` can be written, before long work is done for what is to stand there.
pub(crate) fn possible(path: &Path) -> Result<(), Error> {
    beside(path).map(drop)
}

/// Writes `text` to `path`, over what may be there.
pub(crate) fn whole(path: &Path, text: &str) -> Result<(), Error> {
    let failed = |source| Error::Unwritable { path: path.to_owned(), source };
    let mut file = beside(path)?;
    note(Some(file.path().to_owned()));
    let written = file.write_all(text.as_bytes()).and_then(|()| file.as_file().sync_all()).map_err(failed);
    let written = written.and_then(|()| file.persist(path).map(drop).map_err(|error| failed(error.error)));
    note(None);
    written
}

/// An empty file beside `path`, which may only be taken by a file; it goes where nothing keeps it.
fn beside(path: &Path) -> Result<NamedTempFile, Error> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(Error::NotAFile(path.to_owned()));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    temporary(folder).map_err(|source| Error::Unwritable { path: path.to_owned(), source })
}

/// A file that others may read as they may read any new file: temporary ones are private by default.
fn temporary(folder: &Path) -> std::io::Result<NamedTempFile> {
    use std::os::unix::fs::PermissionsExt;
    let all = fs::Permissions::from_mode(0o666);
    tempfile::Builder::new().prefix(".oomph-").suffix(".tmp").permissions(all).tempfile_in(folder)
}

/// Removes what is half written; for the end of the process.
pub(crate) fn abandon() {
    let unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).take();
    // It may have been renamed meanwhile.
    let _: Option<std::io::Result<()>> = unfinished.map(fs::remove_file);
}

fn note(path: Option<PathBuf>) {
    *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = path;
}
