//! The state of a running undo: restored files, and files left with changes of others.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::account::{FileAccount, Maker};
use super::course::Course;
use super::journal::{FileKey, JournalKind, Record};
use super::spot::{Found, Spot, identity, modified_ns};

/// A running undo.
pub(super) struct Reverting<'a> {
    pub(super) course: &'a Course,
    /// The folder of the journal.
    folder: &'a Path,
    /// The number of the record.
    pub(super) index: usize,
    /// True if an earlier call was killed at this record.
    pub(super) is_repeated: bool,
    /// Paths left with changes of others, with the reasons.
    pub(super) left: Vec<(PathBuf, String)>,
    /// Files with restored content.
    restored: BTreeSet<FileKey>,
    /// Files with changes of others.
    left_files: BTreeSet<FileKey>,
    /// The originals beside their places.
    beside: Vec<PathBuf>,
    /// The folders of files with changes of others.
    left_folders: BTreeSet<PathBuf>,
}

impl<'a> Reverting<'a> {
    pub(super) fn new(course: &'a Course, folder: &'a Path) -> Reverting<'a> {
        let (restored, left_files, left_folders) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        Reverting {
            course,
            folder,
            index: 0,
            is_repeated: false,
            left: Vec::new(),
            beside: Vec::new(),
            restored,
            left_files,
            left_folders,
        }
    }

    /// The account of the file at a spot.
    pub(super) fn find_account(&self, spot: &Spot) -> io::Result<Option<&'a FileAccount>> {
        Ok(spot.identify()?.and_then(|file| self.course.account.find(file)))
    }

    pub(super) fn find_maker(&self, path: &Path, spot: &Spot) -> io::Result<Maker> {
        Ok(spot.identify()?.map_or(Maker::Run, |file| self.course.account.find_maker(file, path)))
    }

    /// Notes the restored content of a record's file.
    pub(super) fn note_restored(&mut self, record: &Record) {
        self.restored.insert(record.state.identity());
    }

    /// True for a file with restored content.
    pub(super) fn is_restored(&self, found: &Found) -> bool {
        self.restored.contains(&identity(found))
    }

    /// True if others changed the content of a file after the run's last change, or between two.
    pub(super) fn is_changed_by_others(&self, account: &FileAccount, found: &Found) -> bool {
        let is_ours = self.is_repeated || self.is_restored(found);
        !is_ours && account.is_changed_by_others(modified_ns(found))
    }

    /// Leaves a file to others, with the original beside the file.
    pub(super) fn leave(&mut self, record: &Record, spot: &Spot, identity: FileKey, reason: &str) -> io::Result<()> {
        spot.set_owner_and_mode(&record.state)?;
        self.note_left(identity, &record.path);
        match &record.other {
            Some(stash) if record.kind == JournalKind::Copied => self.put_beside(record, stash, reason),
            _ => {
                self.report(record, &format!("{reason}, and bytes of the program may be in it"));
                Ok(())
            }
        }
    }

    /// Moves an original to a free name beside a file of others.
    pub(super) fn put_beside(&mut self, record: &Record, stash: &Path, reason: &str) -> io::Result<()> {
        if let Some(original) = Spot::find(stash)?
            && original.stat()?.is_some()
        {
            let aside = beside(&record.path, "before");
            let free = Spot::find(&aside)?.ok_or_else(absent)?;
            match original.rename(&free) {
                // A copy may be on another file system.
                Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                    fs::copy(stash, &aside)?;
                }
                answer => answer?,
            }
            free.set_attributes(&record.state)?;
            self.beside.push(aside.clone());
            self.report(record, &format!("{reason}; its earlier state is {}", aside.display()));
        }
        self.left_folders.extend(record.path.parent().map(Path::to_owned));
        Ok(())
    }

    /// The file of a record at another recorded path, in the stash, or beside its place.
    pub(super) fn find(&self, record: &Record) -> Option<(PathBuf, Spot)> {
        let state = record.state.identity();
        self.course.find(&record.state).or_else(|| {
            self.beside.iter().find_map(|path| {
                let spot = Spot::find(path).ok()??;
                let is_same = spot.stat().ok()?.is_some_and(|found| identity(&found) == state);
                is_same.then(|| (path.clone(), spot))
            })
        })
    }

    /// True for a file left with changes of others.
    pub(super) fn is_left(&self, found: &Found) -> bool {
        self.left_files.contains(&identity(found))
    }

    pub(super) fn is_beside(&self, path: &Path) -> bool {
        self.beside.iter().any(|beside| beside == path)
    }

    /// Later reverts keep the time of a file with changes of others.
    pub(super) fn note_left(&mut self, identity: FileKey, path: &Path) {
        self.left_files.insert(identity);
        self.left_folders.extend(path.parent().map(Path::to_owned));
    }

    pub(super) fn report(&mut self, record: &Record, reason: &str) {
        self.left.push((record.path.clone(), reason.to_owned()));
    }

    /// The names for the bytes of others in the file of this record, being copied and whole.
    pub(super) fn name_tail(&self, size: u64) -> (PathBuf, PathBuf) {
        let name = format!("tail-{}-{size}", self.index);
        (self.folder.join("stash").join(format!("{name}.part")), self.folder.join("stash").join(name))
    }

    /// The bytes of others from a killed call, with the size of the file before that call.
    pub(super) fn find_tail(&self) -> Option<(PathBuf, u64)> {
        let prefix = format!("tail-{}-", self.index);
        let entries = fs::read_dir(self.folder.join("stash")).ok().filter(|_| self.is_repeated)?;
        entries.flatten().find_map(|entry| {
            let size = entry.file_name().to_str()?.strip_prefix(&prefix)?.parse().ok()?;
            Some((entry.path(), size))
        })
    }

    /// True for a folder with new files of others: the time of the folder stays.
    pub(super) fn is_folder_left(&self, path: &Path) -> bool {
        if self.left_folders.contains(path) {
            return true;
        }
        let Ok(started) = fs::metadata(self.folder.join("journal")).and_then(|journal| journal.created()) else {
            return false;
        };
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        entries.into_iter().any(|entry| {
            let is_file = entry.file_type().is_ok_and(|kind| !kind.is_dir());
            is_file && entry.metadata().and_then(|found| found.created()).is_ok_and(|born| born > started)
        })
    }
}

/// A free name beside a path.
pub(super) fn beside(path: &Path, word: &str) -> PathBuf {
    let name = |number: u32| {
        let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
        name.push(format!(".{word}-{number}"));
        path.with_file_name(name)
    };
    let mut free = (1..=u32::MAX).map(name);
    free.find(|path| path.symlink_metadata().is_err()).unwrap_or_else(|| path.to_owned())
}

pub(super) fn absent() -> io::Error {
    io::ErrorKind::NotFound.into()
}
