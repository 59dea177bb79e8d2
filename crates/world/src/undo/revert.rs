//! Reverts one record. Each function changes nothing if the change did not happen, or is reverted already.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::Stat;

use super::account::{Account, FileAccount, Maker};
use super::contents;
use super::course::Course;
use super::journal::{JournalKind, Record};
use super::spot::{Spot, identity, is_folder, kind, modified_ns};

/// An undo on its way.
pub(super) struct Reverting<'a> {
    pub(super) course: &'a Course,
    account: &'a Account,
    /// The folder of the journal.
    folder: &'a Path,
    /// The number of the record.
    index: usize,
    /// True if an earlier call was killed at this record.
    pub(super) is_repeated: bool,
    /// The paths that stay as others left them, with the reasons.
    pub(super) left: Vec<(PathBuf, String)>,
    /// Files whose content is the original again.
    restored: BTreeSet<(u64, u64)>,
    /// Files with changes of others.
    left_files: BTreeSet<(u64, u64)>,
    /// The folders of such files.
    left_folders: BTreeSet<PathBuf>,
}

impl<'a> Reverting<'a> {
    pub(super) fn new(course: &'a Course, account: &'a Account, folder: &'a Path) -> Reverting<'a> {
        let (restored, left_files, left_folders) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        Reverting {
            course,
            account,
            folder,
            index: 0,
            is_repeated: false,
            left: Vec::new(),
            restored,
            left_files,
            left_folders,
        }
    }

    /// The account of the file at a spot.
    pub(super) fn find_account(&self, spot: &Spot) -> io::Result<Option<&'a FileAccount>> {
        Ok(spot.identify()?.and_then(|file| self.account.find(file)))
    }

    fn find_maker(&self, path: &Path, spot: &Spot) -> io::Result<Maker> {
        Ok(spot.identify()?.map_or(Maker::Run, |file| self.account.find_maker(file, path)))
    }

    /// The content of a record's file is the original again.
    pub(super) fn note_restored(&mut self, record: &Record) {
        self.restored.insert(record.state.identity());
    }

    /// True for a file whose content was taken back by a later record.
    pub(super) fn is_restored(&self, found: &Stat) -> bool {
        self.restored.contains(&identity(found))
    }

    /// True if others changed the content of a file after the run's last change, or between two.
    pub(super) fn is_changed_by_others(&self, account: &FileAccount, found: &Stat) -> bool {
        let is_ours = self.is_repeated || self.is_restored(found);
        !is_ours && account.is_changed_by_others(modified_ns(found))
    }

    /// Leaves a file as others changed it, with the original beside it.
    pub(super) fn leave(&mut self, record: &Record, spot: &Spot, identity: (u64, u64), reason: &str) -> io::Result<()> {
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

    /// Moves an original to a free name beside its place, where a file of others is.
    fn put_beside(&mut self, record: &Record, stash: &Path, reason: &str) -> io::Result<()> {
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
            self.report(record, &format!("{reason}; its earlier state is {}", aside.display()));
        }
        self.left_folders.extend(record.path.parent().map(Path::to_owned));
        Ok(())
    }

    /// Later reverts keep the time of a file with changes of others.
    pub(super) fn note_left(&mut self, identity: (u64, u64), path: &Path) {
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

    /// True for a folder that others changed: its time is theirs.
    fn is_folder_left(&self, path: &Path) -> bool {
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

/// Reverts the record of a number. `is_repeated`: an earlier call was killed at this record.
pub(super) fn revert(index: usize, record: &Record, reverting: &mut Reverting, is_repeated: bool) -> io::Result<()> {
    (reverting.index, reverting.is_repeated) = (index, is_repeated);
    let course = reverting.course;
    let is_change = matches!(
        record.kind,
        JournalKind::Copied
            | JournalKind::Appended
            | JournalKind::Attributes
            | JournalKind::Extended
            | JournalKind::Renamed
            | JournalKind::Exchanged
    );
    match revert_known(record, reverting) {
        Err(_) if is_change && course.is_on_made(index) && course.find(&record.state).is_none() => Ok(()),
        answer => answer,
    }
}

fn revert_known(record: &Record, reverting: &mut Reverting) -> io::Result<()> {
    let (course, index) = (reverting.course, reverting.index);
    if record.kind == JournalKind::Uncovered {
        return Ok(());
    }
    let Some(spot) = Spot::find(&record.path)? else { return revert_in_no_folder(record, reverting) };
    let found = spot.stat()?;
    match (record.kind, found) {
        (JournalKind::Folder, Some(found)) if is_folder(found.st_mode) => {
            if !reverting.is_folder_left(&record.path) {
                // The times of a different user's folder stay unchanged.
                let _ = spot.set_times(&record.state);
            }
            Ok(())
        }
        (JournalKind::Made | JournalKind::MadeFolder | JournalKind::Link, Some(found)) => {
            remove(record, reverting, &spot, &found)
        }
        // Earlier records may still need the folder, made before by a different process.
        (JournalKind::Stash, Some(_)) if course.is_made_earlier(index, &record.path) => Ok(()),
        (JournalKind::Stash, Some(found)) => remove_stash(record, &found),
        (
            JournalKind::Folder | JournalKind::Stash | JournalKind::Made | JournalKind::MadeFolder | JournalKind::Link,
            _,
        ) => Ok(()),
        (JournalKind::Stashed, found) => put_back(record, reverting, &spot, found.as_ref()),
        (JournalKind::RemovedFolder, found) => make_folder(record, &spot, found.as_ref()),
        (JournalKind::Renamed, None) => rename(record, course, &spot),
        (JournalKind::Renamed, Some(found)) => rename_over(record, reverting, &spot, &found),
        (JournalKind::Exchanged, _) => exchange(record, &spot),
        (_, found) => change_back(record, reverting, &spot, found.as_ref()),
    }
}

/// In an absent folder, nothing was made and no folder removed.
fn revert_in_no_folder(record: &Record, reverting: &mut Reverting) -> io::Result<()> {
    let course = reverting.course;
    match record.kind {
        JournalKind::Stashed | JournalKind::Renamed if course.find(&record.state).is_none() => Err(absent()),
        JournalKind::Copied | JournalKind::Appended | JournalKind::Attributes | JournalKind::Extended => {
            match course.find(&record.state) {
                Some((_, spot)) => change_back(record, reverting, &spot, spot.stat()?.as_ref()),
                None => Err(absent()),
            }
        }
        _ => Ok(()),
    }
}

/// Reverts a change of content or attributes, wherever the file is.
fn change_back(record: &Record, reverting: &mut Reverting, spot: &Spot, found: Option<&Stat>) -> io::Result<()> {
    // A removed folder has been made anew.
    let is_same = |found: &&Stat| {
        identity(found) == record.state.identity() || (is_folder(found.st_mode) && is_folder(record.state.mode))
    };
    if !found.is_some_and(|found| is_same(&found))
        && let Some((_, spot)) = reverting.course.find(&record.state)
    {
        let found = spot.stat()?;
        return change_back(record, reverting, &spot, found.as_ref().filter(is_same));
    }
    let found = found.ok_or_else(absent)?;
    match record.kind {
        JournalKind::Copied | JournalKind::Appended if !is_same(&found) => {
            Err(io::Error::other("another file is in its place"))
        }
        JournalKind::Copied => contents::restore(reverting, record, spot, found),
        JournalKind::Appended => contents::shorten(reverting, record, spot, found),
        _ if kind(found.st_mode) != kind(record.state.mode) => {
            Err(io::Error::other("another kind of file is in its place"))
        }
        JournalKind::Extended => {
            spot.set_attribute(record.other.as_deref().ok_or_else(absent)?, record.value.as_deref())
        }
        _ if reverting.left_files.contains(&identity(found)) => spot.set_owner_and_mode(&record.state),
        _ => spot.set_attributes(&record.state),
    }
}

/// Adds the place of the original to an error.
pub(super) fn with_stash(record: &Record, error: io::Error) -> io::Error {
    match &record.other {
        Some(stash) if matches!(record.kind, JournalKind::Stashed | JournalKind::Copied) => {
            io::Error::new(error.kind(), format!("{error}; the original is {}", stash.display()))
        }
        _ => error,
    }
}

pub(super) fn absent() -> io::Error {
    io::ErrorKind::NotFound.into()
}

/// Removes a made path.
fn remove(record: &Record, reverting: &mut Reverting, spot: &Spot, found: &Stat) -> io::Result<()> {
    let course = reverting.course;
    let is_last = found.st_nlink <= 1 || record.kind != JournalKind::Link;
    let is_folder_made = record.kind == JournalKind::MadeFolder;
    // An original came here by the next record to be reverted, and a file of a different kind by a parallel process.
    if (is_last && course.is_original(identity(found)))
        || is_folder(found.st_mode) != is_folder_made
        || is_of_others(record, reverting, spot, found)?
        || (!is_folder_made && is_last && contents::keep_foreign(reverting, record, spot, found)?)
    {
        return Ok(());
    }
    match spot.remove(is_folder_made) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
            if !course.has_kept_below(&record.path) && !course.is_made_earlier(reverting.index, &record.path) {
                reverting.report(record, "others put files into this folder of the program");
            }
            Ok(())
        }
        answer => answer,
    }
}

/// True if the run's file is gone, and others made one of its name.
fn is_of_others(record: &Record, reverting: &Reverting, spot: &Spot, found: &Stat) -> io::Result<bool> {
    match record.kind {
        JournalKind::Link => return Ok(identity(found) != record.state.identity()),
        // A removed folder was made anew by a later record. Only an empty folder is removed.
        JournalKind::MadeFolder => return Ok(false),
        _ => {}
    }
    Ok(reverting.find_maker(&record.path, spot)? == Maker::Others)
}

/// Removes a folder for originals, with the remaining copies.
fn remove_stash(record: &Record, found: &Stat) -> io::Result<()> {
    if is_folder(found.st_mode) && found.st_uid == rustix::process::geteuid().as_raw() {
        std::fs::remove_dir_all(&record.path)?;
    }
    Ok(())
}

/// Moves an original from the stash to the original's place. A file that others put there stays; a file of an unknown maker is
/// renamed.
fn put_back(record: &Record, reverting: &mut Reverting, spot: &Spot, found: Option<&Stat>) -> io::Result<()> {
    let path = record.other.as_deref().ok_or_else(absent)?;
    let Some(stash) = Spot::find(path)? else { return Ok(()) };
    let Some(original) = stash.stat()? else { return Ok(()) };
    let Some(found) = found else { return stash.rename(spot) };
    if identity(found) == identity(&original) {
        return stash.remove(false);
    }
    let maker = find_maker(record, reverting, spot, found)?;
    match maker {
        Maker::Run if !is_folder(found.st_mode) => {
            spot.remove(false)?;
            stash.rename(spot)
        }
        Maker::Unknown => {
            let aside = beside(&record.path, "later");
            let free = Spot::find(&aside)?.ok_or_else(absent)?;
            spot.rename(&free)?;
            stash.rename(spot)?;
            Err(io::Error::other(format!("a later file was in its place and is now {}", aside.display())))
        }
        _ => reverting.put_beside(record, path, "others made a file of its name meanwhile"),
    }
}

/// The maker of a file in the place of a moved file. A file with several names is the run's if the run made a name.
fn find_maker(record: &Record, reverting: &Reverting, spot: &Spot, found: &Stat) -> io::Result<Maker> {
    let course = reverting.course;
    if course.is_made(identity(found)) || (found.st_nlink > 1 && course.is_linked(identity(found))) {
        return Ok(Maker::Run);
    }
    reverting.find_maker(&record.path, spot)
}

/// A free name beside a path.
fn beside(path: &Path, word: &str) -> PathBuf {
    let name = |number: u32| {
        let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
        name.push(format!(".{word}-{number}"));
        path.with_file_name(name)
    };
    let mut free = (1..=u32::MAX).map(name);
    free.find(|path| path.symlink_metadata().is_err()).unwrap_or_else(|| path.to_owned())
}

fn make_folder(record: &Record, spot: &Spot, found: Option<&Stat>) -> io::Result<()> {
    match found {
        None => spot.make_folder()?,
        Some(found) if is_folder(found.st_mode) => {}
        Some(_) => return Err(io::Error::other("a file is in the place of a folder")),
    }
    spot.set_attributes(&record.state)
}

/// Renames back to the absent path `from`.
fn rename(record: &Record, course: &Course, from: &Spot) -> io::Result<()> {
    if let Some(to) = Spot::find(record.other.as_deref().ok_or_else(absent)?)?
        && to.stat()?.is_some_and(|found| is_renamed(record, &found))
    {
        return to.rename(from);
    }
    match course.find(&record.state) {
        // The record of the stashed file puts the file back.
        Some((path, _)) if course.is_stash(&path) => Ok(()),
        Some((_, spot)) => spot.rename(from),
        None => Err(absent()),
    }
}

/// Reverts a rename with a taken earlier path: the rename did not happen, or another process made a file.
fn rename_over(record: &Record, reverting: &mut Reverting, from: &Spot, found: &Stat) -> io::Result<()> {
    let course = reverting.course;
    let state = record.state.identity();
    let later = record.other.as_deref().ok_or_else(absent)?;
    let Some(to) = Spot::find(later)? else { return Ok(()) };
    let is_renamed = to.stat()?.is_some_and(|found| identity(&found) == state);
    if !is_renamed || identity(found) == state || is_folder(record.state.mode) {
        return Ok(());
    }
    // The phantom exchanges the two files before moving the replaced file to the stash.
    if course.is_original(identity(found)) {
        return from.exchange(&to);
    }
    match find_maker(record, reverting, from, found)? {
        Maker::Run if !is_folder(found.st_mode) => {
            from.remove(false)?;
            to.rename(from)
        }
        Maker::Unknown => from.exchange(&to),
        // The maker's record finds no file of the run any more.
        _ if record.state.is_made => to.remove(false),
        _ => reverting.put_beside(record, later, "others made a file of its name meanwhile"),
    }
}

/// True for the renamed file. A folder removed afterwards has been made anew.
fn is_renamed(record: &Record, found: &Stat) -> bool {
    let are_folders = is_folder(found.st_mode) && is_folder(record.state.mode);
    are_folders || identity(found) == record.state.identity()
}

fn exchange(record: &Record, spot: &Spot) -> io::Result<()> {
    let other = Spot::find(record.other.as_deref().ok_or_else(absent)?)?.ok_or_else(absent)?;
    let is_same = |found: &Stat| identity(found) == record.state.identity();
    match (spot.stat()?, other.stat()?) {
        // A file of the run was removed after the exchange, and stays removed.
        (Some(here), None) if !is_same(&here) => spot.rename(&other),
        (None, Some(there)) if is_same(&there) => other.rename(spot),
        (Some(_), Some(there)) if is_same(&there) => spot.exchange(&other),
        _ => Ok(()),
    }
}
