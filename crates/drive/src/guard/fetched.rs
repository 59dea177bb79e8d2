//! Files that the first run fetched: later runs have no network, and find the files as if they had been there before.
//!
//! # Note [Fetched files]
//!
//! A program fetches data before the training, to any folder, and perhaps unpacks an archive. Of the files made by the first run,
//! those last changed between the first connection and the end of the first step are taken for fetched: a log, written during
//! the training, is not, and neither is a configuration in the same new folder as the log. Later worlds show the fetched files on top of the real folders ([`Addition`]). Without namespaces there
//! are no such layers: a program that fetches outside the caches of Note [Downloads] needs `--online`.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::time::{ClockId, clock_gettime};
use trace::Run;
use wire::file;
use world::{Addition, FileChange, FileChangeKind, Record};

use crate::cleanup::temporary::Temporary;
use crate::guard::hosts;

/// The times between which a change belongs to a fetched file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    from: SystemTime,
    to: SystemTime,
}

/// The fetched files, removed with the value.
#[derive(Default)]
pub(crate) struct Fetched {
    trees: Vec<Tree>,
}

/// The fetched files of a layer.
struct Tree {
    /// The folder of the layer.
    folder: PathBuf,
    upper: PathBuf,
    root: Temporary,
}

impl Fetched {
    /// The files as additions to later worlds.
    pub(crate) fn additions(&self) -> Vec<Addition> {
        let addition = |tree: &Tree| Addition { folder: tree.folder.clone(), tree: tree.root.path().to_owned() };
        self.trees.iter().map(addition).collect()
    }

    /// The place of a path among the fetched files, where the path may be absent.
    pub(super) fn find(&self, path: &Path) -> Option<PathBuf> {
        let tree = self.trees.iter().filter(|tree| path.starts_with(&tree.folder));
        let tree = tree.max_by_key(|tree| tree.folder.as_os_str().len())?;
        Some(tree.root.path().join(path.strip_prefix(&tree.folder).ok()?))
    }

    /// Takes the fetched files out of the layers of an ended run.
    pub(crate) fn take(record: &Record, changes: &[FileChange], window: Window) -> Fetched {
        let mut fetched = Fetched::default();
        let outputs = find_outputs(record, changes, window);
        for change in changes.iter().filter(|change| change.kind == FileChangeKind::Made) {
            let Some(upper) = record.find_upper(&change.path) else { continue };
            let is_output = outputs.iter().any(|folder| change.path.starts_with(folder));
            let is_fetched = !is_output && find_time(&upper).is_some_and(|time| window.contains(time));
            // A file left behind is missed by the later runs, whose report says so.
            if is_fetched && let Some(tree) = fetched.tree(record, &change.path) {
                let _: io::Result<()> = tree.take(&upper);
            }
        }
        fetched
    }

    /// Returns the tree for a path, made if there is none.
    fn tree(&mut self, record: &Record, path: &Path) -> Option<&Tree> {
        let layer = record.find_layer(path)?;
        let known = self.trees.iter().position(|tree| tree.upper == layer.upper);
        let index = known.unwrap_or(self.trees.len());
        if known.is_none() {
            // The scratch folder is in the same place, outside the layer's folder.
            let place = layer.upper.parent()?.parent()?;
            let root = Temporary::make_in(place, "world-").ok()?;
            copy_owner(&layer.upper, root.path()).ok()?;
            self.trees.push(Tree { folder: layer.folder.clone(), upper: layer.upper.clone(), root });
        }
        self.trees.get(index)
    }
}

impl Tree {
    /// Moves a file of the layer, with the folders above.
    fn take(&self, file: &Path) -> io::Result<()> {
        let below = file.strip_prefix(&self.upper).map_err(io::Error::other)?;
        let mut folder = PathBuf::new();
        for part in below.parent().into_iter().flat_map(Path::components) {
            folder.push(part);
            let made = self.root.path().join(&folder);
            if !made.exists() {
                fs::create_dir(&made)?;
                copy_owner(&self.upper.join(&folder), &made)?;
            }
        }
        fs::rename(file, self.root.path().join(below))
    }
}

/// Copies the owner and the mode of a folder.
pub(super) fn copy_owner(from: &Path, to: &Path) -> io::Result<()> {
    let metadata = fs::metadata(from)?;
    // Only the superuser may change owners.
    let _: io::Result<()> = chown(to, Some(metadata.uid()), Some(metadata.gid()));
    fs::set_permissions(to, metadata.permissions())
}

/// Finds the new folders that the program wrote to after the window: the folders of results.
fn find_outputs(record: &Record, changes: &[FileChange], window: Window) -> BTreeSet<PathBuf> {
    let is_late = |change: &&FileChange| {
        record.find_upper(&change.path).and_then(|upper| find_time(&upper)).is_some_and(|time| time > window.to)
    };
    let made = |kind: FileChangeKind| changes.iter().filter(move |change| change.kind == kind);
    let folders: BTreeSet<&Path> = made(FileChangeKind::MadeFolder).map(|change| change.path.as_path()).collect();
    let late = made(FileChangeKind::Made).filter(is_late);
    let topmost =
        late.filter_map(|change| change.path.ancestors().skip(1).filter(|above| folders.contains(above)).last());
    topmost.map(Path::to_owned).collect()
}

/// The time of the last change of a file or link, its name and mode included.
fn find_time(path: &Path) -> Option<SystemTime> {
    let file = fs::symlink_metadata(path).ok().filter(|file| file.is_file() || file.is_symlink())?;
    let nanoseconds = u32::try_from(file.ctime_nsec()).ok()?;
    Some(UNIX_EPOCH + Duration::new(u64::try_from(file.ctime()).ok()?, nanoseconds))
}

impl Window {
    fn contains(self, time: SystemTime) -> bool {
        self.from <= time && time <= self.to
    }
}

/// Finds the window of a run, recorded in `folder`; `None` for a run without connections to others.
pub(crate) fn find_window(folder: &Path, run: &Run) -> Option<Window> {
    if hosts::read(folder).is_empty() {
        return None;
    }
    let notes = fs::metadata(folder.join(file::HOSTS)).ok()?;
    let from = notes.created().unwrap_or(UNIX_EPOCH);
    let steps = run.processes.iter().flat_map(|process| &process.steps);
    let first = steps.map(|step| step.monotonic_ns).filter(|time| *time > 0).min();
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).map(Duration::from).unwrap_or_default();
    let age = |time: u64| now.saturating_sub(Duration::from_nanos(time));
    let to = SystemTime::now();
    Some(Window { from, to: first.map_or(to, |first| to - age(first)) })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use world::Layer;

    use super::*;

    /// Writes a file until the clock of files has moved past `time`.
    fn write_after(path: &Path, time: SystemTime) {
        while find_time(path).is_none_or(|changed| changed <= time) {
            fs::write(path, "x").unwrap();
        }
    }

    #[test]
    fn files_of_the_window_outside_folders_of_results_are_taken() {
        let place = tempfile::tempdir().unwrap();
        let upper = place.path().join("scratch/upper0");
        for folder in ["data", "runs/one"] {
            fs::create_dir_all(upper.join(folder)).unwrap();
        }
        write_after(&upper.join("before.txt"), UNIX_EPOCH);
        let from = find_time(&upper.join("before.txt")).unwrap();
        for early in ["data/a.bin", "runs/config.json", "b.bin"] {
            write_after(&upper.join(early), from);
        }
        let times = ["data/a.bin", "runs/config.json", "b.bin"].map(|name| find_time(&upper.join(name)).unwrap());
        let to = times.into_iter().max().unwrap();
        for late in ["runs/one/log.txt", "late.txt"] {
            write_after(&upper.join(late), to);
        }
        let layer = Layer { folder: "/home".into(), upper: upper.clone() };
        let record = Record { is_entered: true, layers: vec![layer], ..Record::default() };
        let change = |name: &&str, kind| FileChange { path: Path::new("/home").join(name), kind };
        let files = ["before.txt", "data/a.bin", "runs/config.json", "b.bin", "runs/one/log.txt", "late.txt"];
        let folders = ["data", "runs", "runs/one"];
        let changes: Vec<FileChange> = folders
            .iter()
            .map(|name| change(name, FileChangeKind::MadeFolder))
            .chain(files.iter().map(|name| change(name, FileChangeKind::Made)))
            .collect();
        let window = Window { from: from + Duration::from_nanos(1), to };
        let fetched = Fetched::take(&record, &changes, window);
        let additions = fetched.additions();
        let [Addition { folder, tree }] = additions.as_slice() else { panic!("{additions:?}") };
        assert_eq!(folder, Path::new("/home"));
        let taken: Vec<&str> = files.into_iter().filter(|name| tree.join(name).exists()).collect();
        assert_eq!(taken, ["data/a.bin", "b.bin"]);
        assert!(!tree.join("runs").exists());
    }
}
