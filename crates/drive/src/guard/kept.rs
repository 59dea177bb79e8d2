//! The new files of the first run, with `--keep-files`.
//!
//! # Note [Kept files]
//!
//! The program runs under the same guard as without the option: existing paths are as before. New files, links and folders of the first run
//! stay. Without namespaces the undo of the journal leaves the new files in place. In a world the new files lie in the layers until the
//! command ends, so further runs start from the files as they were; then each file is moved to its path, never over an existing path.
//!
//! Not kept: caches (Note [Downloads] in `downloads.rs`); hollow files, which a real training would load as weights (the agent notes the paths
//! in the file `hollow` of the run directory); sockets, pipes and devices; a renamed file or folder of before. A file stays where the program put
//! a folder in its place, and nothing of the folder is kept.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use base::events;
use wire::file;
use world::{FileChange, FileChangeKind, Record};

use crate::cleanup::temporary::Temporary;
use crate::guard::downloads::{is_in, list_hidden, move_to};
use crate::guard::fetched::{Fetched, copy_owner};

/// The paths that are never kept.
pub(super) struct Excluded {
    hollow: BTreeSet<PathBuf>,
    caches: Vec<PathBuf>,
}

impl Excluded {
    /// Reads the notes on hollow files of a run.
    pub(super) fn read(run: &Path) -> Excluded {
        let notes = fs::read(run.join(file::HOLLOW)).unwrap_or_default();
        let paths = notes.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        let hollow = paths.map(|path| PathBuf::from(OsString::from_vec(path.to_vec()))).collect();
        Excluded { hollow, caches: list_hidden() }
    }

    /// True for a new path to keep; `place` has the file by now.
    pub(super) fn keeps(&self, path: &Path, place: &Path) -> bool {
        let is_plain = fs::symlink_metadata(place).is_ok_and(|it| it.is_file() || it.is_dir() || it.is_symlink());
        is_plain && !self.hollow.contains(path) && !is_in(&self.caches, path)
    }
}

/// The new files of a world, in the layers until [`KeptFiles::publish`].
pub(crate) struct KeptFiles {
    /// The folders of the layers.
    scratches: Vec<Temporary>,
    /// The paths with their places in the layers, parents first.
    folders: Vec<(PathBuf, PathBuf)>,
    files: Vec<(PathBuf, PathBuf)>,
}

impl KeptFiles {
    /// Finds the new files among the changes of an ended run, which are sorted by path.
    pub(super) fn find(record: &Record, changes: &[FileChange], excluded: &Excluded) -> KeptFiles {
        let mut kept = KeptFiles { scratches: Vec::new(), folders: Vec::new(), files: Vec::new() };
        let mut made = BTreeSet::new();
        for FileChange { path, kind } in changes {
            let Some(place) = record.find_upper(path) else { continue };
            let is_new = matches!(kind, FileChangeKind::Made | FileChangeKind::MadeFolder)
                && fs::symlink_metadata(path).is_err()
                && path.parent().is_some_and(|above| made.contains(above) || is_folder(above))
                && !world::was_renamed(&place);
            if !is_new || !excluded.keeps(path, &place) {
                continue;
            }
            if *kind == FileChangeKind::MadeFolder {
                made.insert(path.as_path());
                kept.folders.push((path.clone(), place));
            } else {
                kept.files.push((path.clone(), place));
            }
        }
        kept
    }

    /// The number of files.
    pub(super) fn count(&self) -> u64 {
        self.files.len() as u64
    }

    /// Takes the folders of the layers, which are removed with this value.
    pub(super) fn hold(&mut self, scratches: Vec<Temporary>) {
        self.scratches = scratches;
    }

    /// Moves all files to their paths. A file of `fetched` was shown to later runs.
    pub(super) fn publish(mut self, fetched: &Fetched) {
        for (path, _) in &self.folders {
            warn(path, fs::create_dir(path));
        }
        for (path, place) in &self.files {
            let found = fetched.find(path).filter(|found| fs::symlink_metadata(found).is_ok());
            warn(path, move_to(found.as_ref().unwrap_or(place), path, false));
        }
        // A folder may be closed to its owner.
        for (path, place) in self.folders.iter().rev() {
            warn(path, copy_owner(place, path));
        }
        self.scratches.drain(..).for_each(Temporary::remove_in_background);
    }
}

/// True for a folder, and no link to one.
fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

fn warn(path: &Path, moved: io::Result<()>) {
    if let Err(error) = moved {
        events::remark(&format!("warning: {} could not be kept: {error}", path.display()));
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use world::Layer;

    use super::*;

    #[test]
    fn new_files_are_kept_and_others_stay() {
        let place = tempfile::tempdir().unwrap();
        let (real, upper, run) = (place.path().join("real"), place.path().join("upper0"), place.path().join("run"));
        let write = |path: PathBuf, text: &str| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(real.join("best.pt"), "trained");
        write(real.join("out"), "a file");
        for name in ["best.pt", "new.pt", "out/a.pt", "results/deep/log.txt", "hollow.bin", "__pycache__/a.pyc"] {
            write(upper.join(name), "of the run");
        }
        write(run.join(file::HOLLOW), &format!("{}\0", real.join("hollow.bin").display()));
        let layer = Layer { folder: real.clone(), upper };
        let record = Record { is_entered: true, layers: vec![layer], ..Record::default() };
        let kept = KeptFiles::find(&record, &world::count(&record).changes, &Excluded::read(&run));
        assert_eq!(kept.count(), 2);
        kept.publish(&Fetched::default());
        let contents_of = |name: &str| fs::read_to_string(real.join(name)).unwrap_or_default();
        let names = ["best.pt", "new.pt", "out", "results/deep/log.txt", "hollow.bin", "__pycache__/a.pyc"];
        assert_eq!(names.map(contents_of), ["trained", "of the run", "a file", "of the run", "", ""]);
    }
}
