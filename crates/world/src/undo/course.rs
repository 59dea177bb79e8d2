//! The course of a run by the records: the made paths, the paths at the end, and the net changes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::account::WriteAccount;
use super::journal::{FileKey, FileState, JournalKind, Record};
use super::spot::{Spot, identity, is_folder, kind};
use super::{JournaledChange, JournaledKind};

/// The records of a run in order, as a single history.
#[derive(Default)]
pub(super) struct Course {
    /// Made paths, as named at the end of the run, with the number of the record.
    made: BTreeMap<PathBuf, usize>,
    /// Renames, by the number of the record.
    renames: BTreeMap<usize, Rename>,
    /// The keys of files from before the run.
    originals: BTreeSet<FileKey>,
    /// The keys of files made by the run, as far as named by a record.
    made_files: BTreeSet<FileKey>,
    /// The keys of files with a second name.
    linked: BTreeSet<FileKey>,
    /// The possible paths of a file, by device and inode.
    places: BTreeMap<FileKey, BTreeSet<PathBuf>>,
    /// Records of changes to files made by the run.
    on_made: BTreeSet<usize>,
    /// The possible paths of all files.
    all_places: BTreeSet<PathBuf>,
    /// The names of moved files in the stash.
    stashes: BTreeSet<PathBuf>,
    /// The first record of the making of a folder.
    folders: BTreeMap<PathBuf, usize>,
    /// Records not to be reverted: the file is kept.
    kept: BTreeSet<usize>,
    kept_paths: BTreeSet<PathBuf>,
    /// The program's writes.
    pub(super) account: WriteAccount,
}

struct Rename {
    from: PathBuf,
    to: PathBuf,
    /// The number of the record that made the file.
    maker: Option<usize>,
}

impl Course {
    pub(super) fn of(records: &[Record], account: WriteAccount, keeps: &dyn Fn(&Path) -> bool) -> Course {
        let mut course = Course { account, ..Course::default() };
        for (index, record) in records.iter().enumerate() {
            course.follow(index, record);
        }
        course.keep(records, keeps);
        course
    }

    fn follow(&mut self, index: usize, record: &Record) {
        let is_made = record.state.is_made || self.made.contains_key(&record.path);
        let identity = record.state.identity();
        self.note_places(record);
        if record.kind == JournalKind::Link {
            self.linked.insert(identity);
        }
        if record.state.is_made {
            self.made_files.insert(identity);
        }
        if is_made {
            self.on_made.insert(index);
        }
        if matches!(record.kind, JournalKind::MadeFolder | JournalKind::Stash) {
            self.folders.entry(record.path.clone()).or_insert(index);
        }
        match record.kind {
            JournalKind::Made | JournalKind::MadeFolder | JournalKind::Link => {
                self.made.insert(record.path.clone(), index);
            }
            JournalKind::Renamed => self.rename(index, record, is_made),
            JournalKind::Stashed | JournalKind::RemovedFolder => {
                self.made.remove(&record.path);
            }
            _ => {}
        }
        let names_original = matches!(
            record.kind,
            JournalKind::Stashed
                | JournalKind::Copied
                | JournalKind::Appended
                | JournalKind::Attributes
                | JournalKind::Renamed
                | JournalKind::Exchanged
        );
        // The number of a removed folder is free for a made file.
        if names_original && !is_made && !is_folder(record.state.mode) {
            self.originals.insert(identity);
        }
    }

    /// Moves made paths, in a renamed folder too.
    fn rename(&mut self, index: usize, record: &Record, is_made: bool) {
        let Some(to) = &record.other else { return };
        let maker = self.made.get(&record.path).copied().filter(|_| is_made);
        self.made.remove(to);
        let below = self.made.range(record.path.clone()..).take_while(|(path, _)| path.starts_with(&record.path));
        let moved: Vec<_> = below.map(|(path, index)| (path.clone(), *index)).collect();
        for (path, maker) in moved {
            self.made.remove(&path);
            self.made.insert(moved_path(&path, &record.path, to), maker);
        }
        self.renames.insert(index, Rename { from: record.path.clone(), to: to.clone(), maker });
    }

    /// Marks the records of kept files and folders, except at or below the place of an original.
    fn keep(&mut self, records: &[Record], keeps: &dyn Fn(&Path) -> bool) {
        let is_original =
            |record: &&Record| record.kind == JournalKind::Stashed && self.is_original(record.state.identity());
        let stashed = records.iter().filter(is_original).map(|record| record.path.as_path());
        let renamed = self.renames.values().filter(|rename| rename.maker.is_none()).map(|rename| rename.from.as_path());
        let taken: BTreeSet<_> = stashed.chain(renamed).collect();
        for (path, maker) in &self.made {
            if !path.ancestors().any(|above| taken.contains(above)) && keeps(path) {
                self.kept.insert(*maker);
                self.kept_paths.insert(path.clone());
            }
        }
        let moved =
            self.renames.iter().filter(|(_, rename)| rename.maker.is_some_and(|maker| self.kept.contains(&maker)));
        let moved: Vec<_> = moved.map(|(index, _)| *index).collect();
        self.kept.extend(moved);
    }

    pub(super) fn is_kept(&self, index: usize) -> bool {
        self.kept.contains(&index)
    }

    pub(super) fn has_kept_below(&self, folder: &Path) -> bool {
        self.kept_paths.iter().any(|path| path.starts_with(folder))
    }

    pub(super) fn is_original(&self, identity: FileKey) -> bool {
        self.originals.contains(&identity)
    }

    /// True if an earlier record made the same folder.
    pub(super) fn is_made_earlier(&self, index: usize, folder: &Path) -> bool {
        self.folders.get(folder).is_some_and(|first| *first < index)
    }

    /// The file of a record at another recorded path, or in the stash. The records of two processes may be in a
    /// different order than the changes.
    pub(super) fn find(&self, state: &FileState) -> Option<(PathBuf, Spot)> {
        let near = self.places.get(&state.identity()).into_iter().flatten();
        near.chain(&self.all_places).find_map(|path| {
            let spot = Spot::find(path).ok()??;
            let found = spot.stat().ok()??;
            let is_same = identity(&found) == state.identity() && kind(found.st_mode) == kind(state.mode);
            is_same.then(|| (path.clone(), spot))
        })
    }

    pub(super) fn is_made(&self, identity: FileKey) -> bool {
        self.made_files.contains(&identity) && !self.is_original(identity)
    }

    pub(super) fn is_linked(&self, identity: FileKey) -> bool {
        self.linked.contains(&identity)
    }

    /// True for a record of a file made by the run: the file may be gone.
    pub(super) fn is_on_made(&self, index: usize) -> bool {
        self.on_made.contains(&index)
    }

    pub(super) fn is_stash(&self, path: &Path) -> bool {
        self.stashes.contains(path)
    }

    fn note_places(&mut self, record: &Record) {
        let mut places: BTreeSet<_> = record.paths().map(Path::to_owned).collect();
        if record.kind == JournalKind::Stashed {
            self.stashes.extend(record.other.clone());
            places.extend(record.other.clone());
        }
        if matches!(record.kind, JournalKind::Stashed | JournalKind::Renamed | JournalKind::Link) {
            self.all_places.extend(places.iter().cloned());
        }
        if record.state.inode != 0 {
            self.places.entry(record.state.identity()).or_default().extend(places);
        }
    }

    /// The net changes, by path.
    pub(super) fn changes(&self, records: &[Record]) -> Vec<JournaledChange> {
        let mut kinds: BTreeMap<PathBuf, BTreeSet<JournaledKind>> = BTreeMap::new();
        let mut add = |path: PathBuf, kind| {
            kinds.entry(path).or_default().insert(kind);
        };
        for path in self.made.keys() {
            if let Ok(found) = fs::symlink_metadata(path) {
                add(path.clone(), if found.is_dir() { JournaledKind::MadeFolder } else { JournaledKind::Made });
            }
        }
        for (index, record) in records.iter().enumerate() {
            if let Some((path, kind)) = self.change(index, record) {
                add(path, kind);
            }
        }
        kinds
            .into_iter()
            .flat_map(|(path, kinds)| merge(kinds).map(move |kind| JournaledChange { path: path.clone(), kind }))
            .collect()
    }

    /// The change of an original file or folder, by a record.
    fn change(&self, index: usize, record: &Record) -> Option<(PathBuf, JournaledKind)> {
        let earlier = self.earlier(&record.path, index);
        let later = self.later(&record.path, index);
        let is_taken = fs::symlink_metadata(&earlier).is_ok();
        match record.kind {
            JournalKind::Stashed if !self.is_original(record.state.identity()) => None,
            JournalKind::Stashed if !is_taken || self.made.contains_key(&earlier) => {
                Some((earlier, JournaledKind::Removed))
            }
            JournalKind::RemovedFolder if !is_taken => Some((earlier, JournaledKind::RemovedFolder)),
            JournalKind::Copied | JournalKind::Appended | JournalKind::Attributes if differs(&later, &record.state) => {
                Some((earlier, JournaledKind::Changed))
            }
            JournalKind::Extended | JournalKind::Exchanged => Some((earlier, JournaledKind::Changed)),
            JournalKind::Renamed => {
                let rename = self.renames.get(&index).filter(|rename| rename.maker.is_none())?;
                let to = self.later(&rename.to, index);
                let is_net =
                    to != earlier && fs::symlink_metadata(&to).is_ok_and(|found| is_file(&found, &record.state));
                is_net.then_some((earlier, JournaledKind::Renamed { to }))
            }
            _ => None,
        }
    }

    /// The path before the run of a record's file.
    fn earlier(&self, path: &Path, index: usize) -> PathBuf {
        let before = self.renames.range(..index).rev().map(|(_, rename)| (&rename.to, &rename.from));
        before.fold(path.to_owned(), |path, (to, from)| moved_path(&path, to, from))
    }

    /// The path after the run.
    fn later(&self, path: &Path, index: usize) -> PathBuf {
        let after = self.renames.range(index + 1..).map(|(_, rename)| (&rename.from, &rename.to));
        after.fold(path.to_owned(), |path, (from, to)| moved_path(&path, from, to))
    }
}

/// The path after a rename.
fn moved_path(path: &Path, from: &Path, to: &Path) -> PathBuf {
    match path.strip_prefix(from) {
        Ok(rest) if rest.as_os_str().is_empty() => to.to_owned(),
        Ok(rest) => to.join(rest),
        Err(_) => path.to_owned(),
    }
}

/// Counts a removed and remade path as changed.
fn merge(mut kinds: BTreeSet<JournaledKind>) -> impl Iterator<Item = JournaledKind> {
    for (removed, made) in
        [(JournaledKind::Removed, JournaledKind::Made), (JournaledKind::RemovedFolder, JournaledKind::MadeFolder)]
    {
        if kinds.contains(&removed) && kinds.contains(&made) {
            kinds.remove(&removed);
            kinds.remove(&made);
            kinds.insert(JournaledKind::Changed);
        }
    }
    kinds.into_iter()
}

fn is_file(found: &fs::Metadata, state: &FileState) -> bool {
    found.ino() == state.inode
}

/// True if a file exists in a different state than the given state.
fn differs(path: &Path, state: &FileState) -> bool {
    let Ok(found) = fs::symlink_metadata(path) else { return false };
    let now = (found.mode(), found.uid(), found.gid(), found.mtime(), found.mtime_nsec());
    let before = (state.mode, state.owner, state.group, state.modified.0, state.modified.1);
    is_file(&found, state) && (now != before || (!found.is_dir() && found.len() != state.size))
}
