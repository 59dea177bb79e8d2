//! The changes of a program, read from its layers.

use std::fs::{self, Metadata};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use crate::record::{Layer, Record};

/// The most entries read: a program with a large unpacked archive is not worth minutes.
const MOST_ENTRIES: usize = 200_000;

/// The kind of a change, compared with the state before the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileChangeKind {
    /// A new file, link or socket.
    Made,
    /// A file with other content, mode or times.
    Changed,
    /// A removed file, link or socket.
    Removed,
    /// A new folder.
    MadeFolder,
    /// A removed folder.
    RemovedFolder,
}

/// A change of the program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileChange {
    /// The path as the program sees it.
    pub path: PathBuf,
    /// The kind.
    pub kind: FileChangeKind,
}

/// All changes of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// The changes, sorted by path.
    pub changes: Vec<FileChange>,
    /// The sizes of the made and changed files. Holes count: on the disk, a checkpoint of zeros is smaller.
    pub written_bytes: u64,
    /// True if some changes are unread, being too many.
    pub is_cut: bool,
}

/// Reads the changes from the layers of a world. A folder, removed and made again, counts by the new content.
pub fn count(record: &Record) -> Effects {
    let mut effects = Effects::default();
    for layer in &record.layers {
        walk(layer, &layer.upper, true, &mut effects);
    }
    effects.changes.sort();
    effects.changes.dedup();
    effects
}

impl Effects {
    fn push(&mut self, path: &Path, kind: FileChangeKind) {
        self.is_cut = self.changes.len() >= MOST_ENTRIES;
        if !self.is_cut {
            self.changes.push(FileChange { path: path.to_owned(), kind });
        }
    }

    /// Notes the removal of an entry, with everything below.
    fn push_removed(&mut self, path: &Path, before: &Metadata) {
        if !before.is_dir() {
            return self.push(path, FileChangeKind::Removed);
        }
        self.push(path, FileChangeKind::RemovedFolder);
        for (path, metadata) in list(path) {
            self.push_removed(&path, &metadata);
        }
    }
}

/// Notes the entries of a folder of a layer. `has_lower`: the layer's folder existed before.
fn walk(layer: &Layer, folder: &Path, has_lower: bool, effects: &mut Effects) {
    for (path, metadata) in list(folder) {
        if effects.is_cut {
            return;
        }
        let Ok(place) = path.strip_prefix(&layer.upper).map(|place| layer.folder.join(place)) else { continue };
        let before = if has_lower { fs::symlink_metadata(&place).ok() } else { None };
        effects.written_bytes += if metadata.is_file() { metadata.len() } else { 0 };
        compare(&place, &metadata, before.as_ref(), effects);
        if metadata.is_dir() {
            let is_merged = before.is_some_and(|before| before.is_dir());
            if is_merged && is_opaque(&path) {
                let gone = list(&place).into_iter().filter(|(lower, _)| !is_in(&path, lower));
                gone.for_each(|(lower, metadata)| effects.push_removed(&lower, &metadata));
            }
            walk(layer, &path, is_merged, effects);
        }
    }
}

/// True if a folder has an entry of the same name.
fn is_in(folder: &Path, entry: &Path) -> bool {
    entry.file_name().is_some_and(|name| fs::symlink_metadata(folder.join(name)).is_ok())
}

/// Lists the entries of a folder; an unreadable folder counts as empty.
fn list(folder: &Path) -> Vec<(PathBuf, Metadata)> {
    let paths = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    paths.filter_map(|path| fs::symlink_metadata(&path).ok().map(|metadata| (path, metadata))).collect()
}

/// Notes the changes at a path, from the entry of a layer and the entry before.
fn compare(place: &Path, now: &Metadata, before: Option<&Metadata>, effects: &mut Effects) {
    let is_gone = is_whiteout(now);
    let made = if now.is_dir() { FileChangeKind::MadeFolder } else { FileChangeKind::Made };
    match before {
        Some(before) if is_gone => effects.push_removed(place, before),
        None if is_gone => {}
        None => effects.push(place, made),
        Some(before) if now.is_dir() && before.is_dir() => {}
        Some(before) if now.is_dir() || before.is_dir() => {
            effects.push_removed(place, before);
            effects.push(place, made);
        }
        Some(_) => effects.push(place, FileChangeKind::Changed),
    }
}

/// True for an entry of a layer that was there before the program, under another name.
pub fn was_renamed(entry: &Path) -> bool {
    let names = ["origin", "redirect"]
        .iter()
        .flat_map(|mark| ["trusted", "user"].map(|class| format!("{class}.overlay.{mark}")));
    names.into_iter().any(|name| rustix::fs::lgetxattr(entry, name, &mut [0_u8; 0][..]).is_ok())
}

/// True for the mark of a removed entry: a character device 0/0.
fn is_whiteout(entry: &Metadata) -> bool {
    entry.file_type().is_char_device() && entry.rdev() == 0
}

/// True for a folder that hides the folder below, because the program removed and remade the path.
fn is_opaque(folder: &Path) -> bool {
    let names = ["trusted.overlay.opaque", "user.overlay.opaque"];
    names.iter().any(|name| {
        let mut value = [0_u8; 1];
        rustix::fs::lgetxattr(folder, *name, &mut value[..]).is_ok_and(|length| length == 1 && value == *b"y")
    })
}
