//! Files that the first run fetched: later runs have no network, and find the files as if they had been there before.
//!
//! # Note [Fetched files]
//!
//! A program fetches data before the training, to any folder, and perhaps unpacks an archive. Of the files made by the first run,
//! those last changed between the first connection and the end of the first step are taken for fetched: a log, written during
//! the training, is not. Later worlds show the fetched files on top of the real folders ([`Addition`]). Without namespaces there
//! are no such layers: a program that fetches outside the caches of Note [Downloads] needs `--online`.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::time::{ClockId, clock_gettime};
use trace::Run;
use wire::file;
use world::{Addition, FileChange, FileChangeKind, Record};

use crate::cleanup::temporary::Temporary;

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

    /// Takes the fetched files out of the layers of an ended run.
    pub(crate) fn take(record: &Record, changes: &[FileChange], window: Window) -> Fetched {
        let mut fetched = Fetched::default();
        for change in changes.iter().filter(|change| change.kind == FileChangeKind::Made) {
            let Some(upper) = record.find_upper(&change.path) else { continue };
            let is_fetched = fs::symlink_metadata(&upper).is_ok_and(|file| is_within(&file, window));
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
fn copy_owner(from: &Path, to: &Path) -> io::Result<()> {
    let metadata = fs::metadata(from)?;
    // Only the superuser may change owners.
    let _: io::Result<()> = chown(to, Some(metadata.uid()), Some(metadata.gid()));
    fs::set_permissions(to, metadata.permissions())
}

fn is_within(file: &Metadata, window: Window) -> bool {
    let nanoseconds = u32::try_from(file.ctime_nsec()).unwrap_or_default();
    let seconds = u64::try_from(file.ctime()).unwrap_or_default();
    let changed = UNIX_EPOCH + Duration::new(seconds, nanoseconds);
    (file.is_file() || file.is_symlink()) && window.from <= changed && changed <= window.to
}

/// Finds the window of a run, recorded in `folder`; `None` for a run without connections.
pub(crate) fn find_window(folder: &Path, run: &Run) -> Option<Window> {
    let notes = fs::metadata(folder.join(file::HOSTS)).ok()?;
    let from = notes.created().unwrap_or(UNIX_EPOCH);
    let steps = run.processes.iter().flat_map(|process| &process.steps);
    let first = steps.map(|step| step.monotonic_ns).filter(|time| *time > 0).min();
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).map(Duration::from).unwrap_or_default();
    let age = |time: u64| now.saturating_sub(Duration::from_nanos(time));
    let to = SystemTime::now();
    Some(Window { from, to: first.map_or(to, |first| to - age(first)) })
}
