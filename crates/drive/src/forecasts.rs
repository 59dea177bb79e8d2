//! The files of forecasts: what checks keep for real runs (Note [Forecasts] in `crates/run/src/forecast.rs`).

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use run::Forecast;
use run::cache::hash;

use crate::unpack;

/// The number of forecasts that are kept; those that were written longest ago are removed first.
const MOST: usize = 256;

/// Keeps the forecast of the command `key`.
pub fn keep(key: &str, forecast: &Forecast) -> io::Result<()> {
    let folder = folder()?;
    fs::create_dir_all(&folder)?;
    let mut file = tempfile::NamedTempFile::new_in(&folder)?;
    file.write_all(&serde_json::to_vec(forecast)?)?;
    file.persist(folder.join(key)).map_err(|error| error.error)?;
    remove_oldest(&folder)
}

/// Returns the forecast of the command `key` if its files are unchanged. An unreadable forecast counts as absent.
pub fn find(key: &str) -> Option<Forecast> {
    let text = fs::read(folder().ok()?.join(key)).ok()?;
    let forecast: Forecast = serde_json::from_slice(&text).ok()?;
    let holds = |(file, known): &(PathBuf, String)| digest(file).as_ref() == Some(known);
    (forecast.format == Forecast::FORMAT && forecast.sources.iter().all(holds)).then_some(forecast)
}

/// A hash of a file's content; `None` for an unreadable file.
pub fn digest(file: &Path) -> Option<String> {
    Some(hash(&fs::read(file).ok()?))
}

fn folder() -> io::Result<PathBuf> {
    Ok(unpack::parent().map_err(io::Error::other)?.join("forecasts"))
}

fn remove_oldest(folder: &Path) -> io::Result<()> {
    let entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    // Another check may remove or rename an entry meanwhile.
    let date = |entry: &fs::DirEntry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()));
    let mut dated: Vec<_> = entries.iter().filter_map(date).collect();
    dated.sort();
    let surplus = dated.len().saturating_sub(MOST);
    dated.into_iter().take(surplus).try_for_each(|(_, path)| unless_gone(fs::remove_file(path)))
}

fn unless_gone(removed: io::Result<()>) -> io::Result<()> {
    removed.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}
