//! The places for scratch folders, and the end of a scratch folder: the changes of its journal are undone first.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The places of the disk for scratch folders, the best first.
pub(crate) fn list_places() -> Vec<PathBuf> {
    let caches = super::unpack::parent().ok();
    let places = [Some(std::env::temp_dir()), Some(PathBuf::from("/var/tmp")), caches, Some(PathBuf::from("/dev/shm"))];
    let mut places: Vec<PathBuf> =
        places.into_iter().flatten().filter_map(|place| fs::canonicalize(place).ok()).collect();
    // The order is that of preference, so equal places are found by hand.
    let mut index = 0;
    while index < places.len() {
        if places[..index].contains(&places[index]) {
            places.remove(index);
        } else {
            index += 1;
        }
    }
    places
}

/// Puts the files back that a killed oomph has left changed; returns the paths that could not be put back.
pub(crate) fn finish_abandoned() -> Vec<PathBuf> {
    let folders = list_places().into_iter().flat_map(|place| world::undo::find_abandoned(&place));
    folders.flat_map(|folder| discard(&folder)).collect()
}

/// Removes a scratch folder, after the changes of its journal were undone; returns the paths that could not be put back, whose
/// originals stay in the folder.
pub(crate) fn discard(folder: &Path) -> Vec<PathBuf> {
    let failures = world::undo::undo(folder, &[]).failures;
    if failures.is_empty() {
        // A folder that stays takes room, and nothing else.
        let _: io::Result<()> = world::remove(folder);
    }
    failures.into_iter().map(|(path, _)| path).collect()
}
