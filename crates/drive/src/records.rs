//! Small records of a command for a later command, by key: forecasts, searches.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use run::cache::hash;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::unpack;

/// The most records of a kind; the oldest are removed first.
const MOST: usize = 256;

/// A file's path, and a hash of its content.
pub type KnownFile = (PathBuf, String);

/// Keeps a record of the kind `kind`.
pub fn keep(kind: &str, key: &str, record: &impl Serialize) -> io::Result<()> {
    let folder = folder(kind)?;
    fs::create_dir_all(&folder)?;
    let mut file = tempfile::NamedTempFile::new_in(&folder)?;
    file.write_all(&serde_json::to_vec(record)?)?;
    file.persist(folder.join(key)).map_err(|error| error.error)?;
    remove_oldest(&folder)
}

/// Returns the record with a key. An unreadable record counts as absent.
pub fn find<T: DeserializeOwned>(kind: &str, key: &str) -> Option<T> {
    let text = fs::read(folder(kind).ok()?.join(key)).ok()?;
    serde_json::from_slice(&text).ok()
}

/// True if every file has its old content.
pub fn are_unchanged(sources: &[KnownFile]) -> bool {
    sources.iter().all(|(file, known)| digest(file).as_ref() == Some(known))
}

/// A hash of a file's content; `None` for an unreadable file.
pub fn digest(file: &Path) -> Option<String> {
    Some(hash(&fs::read(file).ok()?))
}

/// The folder of a large record, which its command keeps itself.
pub fn folder_of(kind: &str, key: &str) -> io::Result<PathBuf> {
    Ok(folder(kind)?.join(key))
}

fn folder(kind: &str) -> io::Result<PathBuf> {
    Ok(unpack::parent().map_err(io::Error::other)?.join(kind))
}

fn remove_oldest(folder: &Path) -> io::Result<()> {
    let entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    // Another command may remove or rename an entry meanwhile.
    let date = |entry: &fs::DirEntry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()));
    let mut dated: Vec<_> = entries.iter().filter_map(date).collect();
    dated.sort();
    let surplus = dated.len().saturating_sub(MOST);
    dated.into_iter().take(surplus).try_for_each(|(_, path)| unless_gone(fs::remove_file(path)))
}

fn unless_gone(removed: io::Result<()>) -> io::Result<()> {
    removed.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}
