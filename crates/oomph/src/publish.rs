//! Writes a file whole or not at all: beside its place first, then renamed to it.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt as _, fchown};
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
    write(path, beside(path)?, text)
}

/// Writes `text` over the file at `path`, which keeps its permissions and, where we may give it away, its owner; a link stays, and the
/// file that it leads to is written. One that has several names is written in place, so that it keeps them; one that we may not write stays.
pub(crate) fn replace(path: &Path, text: &str) -> Result<(), Error> {
    let failed = |source| Error::Unwritable { path: path.to_owned(), source };
    let path = path.canonicalize().map_err(failed)?;
    let found = fs::OpenOptions::new().write(true).open(&path).and_then(|file| file.metadata()).map_err(failed)?;
    if found.nlink() > 1 {
        return fs::write(&path, text).map_err(failed);
    }
    let file = beside(&path)?;
    // Only root may: what others write is theirs, as with any editor. It comes first, since it takes some permissions away.
    let _ = fchown(file.as_file(), Some(found.uid()), Some(found.gid()));
    file.as_file().set_permissions(found.permissions()).map_err(failed)?;
    write(&path, file, text)
}

fn write(path: &Path, mut file: NamedTempFile, text: &str) -> Result<(), Error> {
    let failed = |source| Error::Unwritable { path: path.to_owned(), source };
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
