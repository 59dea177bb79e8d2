//! Reverts a dry run's changes to files, from the journal (Note [Undo journal] in `crates/phantom/src/undo.rs`).
//!
//! # Note [Undo]
//!
//! Records are reverted from the last to the first, and each path has the same meaning as at the time of the record.
//! The number of each reverted record goes to the file `undone`: the next call finishes a killed call and repeats a
//! single record at most, and a repeated record changes nothing.
//!
//! - The state of the paths shows if the change of a record did not happen.
//! - No link is followed: a folder is opened name by name, and the last name is never followed.
//! - Only a recorded path is removed, and never an original named by the journal.
//! - Others may have changed the same files. Only the run's own changes are taken back (Note [Account] in
//!   `crates/wire/src/account.rs`): of a grown file, the own bytes are cut off. A file that others changed, or put in the place of
//!   an original, stays; the original comes beside it under a name with `.before-`, and the report says so.
//! - A file is recognised by the inode, unchanged by any revert: a record of a moved file is reverted at the new place.
//! - After a failure the stash stays, with the files not put back. The file `failed` then names the
//!   failures, and no later call changes anything.

mod abandoned;
mod account;
mod contents;
mod course;
mod growth;
mod journal;
mod revert;
mod reverting;
mod spot;

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

pub use abandoned::{claim, find_abandoned};
use account::WriteAccount;
use course::Course;
use journal::{JournalKind, Record};
use reverting::Reverting;

/// The result of [`undo`].
#[derive(Debug, Default)]
pub struct Undone {
    /// The net changes of the run before the undo, by path.
    pub changes: Vec<JournaledChange>,
    /// Paths that could not be put back.
    pub failures: Vec<(PathBuf, io::Error)>,
    /// Paths that others changed during the run: as others left them, with the reasons.
    pub left: Vec<(PathBuf, String)>,
    /// Changes refused by the guard, and helpers with changes unseen by the guard.
    pub uncovered: Vec<Uncovered>,
}

/// A net change of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournaledChange {
    /// The path; of a renamed file, the earlier path.
    pub path: PathBuf,
    /// The difference.
    pub kind: JournaledKind,
}

/// The kinds of net changes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum JournaledKind {
    /// A file, a link or a socket was made.
    Made,
    /// The content or the attributes of a file are different.
    Changed,
    /// A file was removed.
    Removed,
    /// A folder was made.
    MadeFolder,
    /// A folder was removed.
    RemovedFolder,
    /// The path of a file or a folder is different.
    Renamed {
        /// The later path.
        to: PathBuf,
    },
}

/// A limit of the guard, met by a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Uncovered {
    /// A file was too large for a copy, and the change was refused.
    Refused {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
    },
    /// A helper ran without the guard, being linked statically or having a different environment.
    Helper(PathBuf),
}

/// Reverts all changes of an ended run, except made paths that `keeps` accepts. Then the journal and the stash are removed,
/// unless a revert failed.
pub fn undo(folder: &Path, keeps: &dyn Fn(&Path) -> bool) -> Undone {
    let bytes = match fs::read(folder.join("journal")) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            clear(folder);
            return Undone::default();
        }
        Err(error) => return Undone { failures: vec![(folder.to_owned(), error)], ..Undone::default() },
    };
    let records = journal::parse(&bytes);
    let uncovered = records.iter().filter_map(limit).collect();
    let before = earlier_failures(folder);
    if !before.is_empty() {
        return Undone { failures: before, uncovered, ..Undone::default() };
    }
    let course = Course::of(&records, WriteAccount::read(folder), keeps);
    let mut reverting = Reverting::new(&course, folder);
    let changes = course.changes(&records);
    let mut failures = Vec::new();
    match Progress::open(folder) {
        Ok(mut progress) => revert_all(&records, &mut reverting, &mut progress, &mut failures),
        Err(error) => failures.push((folder.to_owned(), error)),
    }
    let left = std::mem::take(&mut reverting.left);
    if failures.is_empty() {
        clear(folder);
    } else {
        note_failures(folder, &failures);
    }
    Undone { changes, failures, left, uncovered }
}

fn revert_all(
    records: &[Record],
    reverting: &mut Reverting,
    progress: &mut Progress,
    failures: &mut Vec<(PathBuf, io::Error)>,
) {
    let done = records.iter().skip(progress.left.unwrap_or(records.len()));
    done.filter(|record| record.kind == JournalKind::Copied).for_each(|record| reverting.note_restored(record));
    for (index, record) in records.iter().enumerate().take(progress.left.unwrap_or(records.len())).rev() {
        // After a failure, something may be left to be taken from the stash of a mount.
        if reverting.course.is_kept(index) || (record.kind == JournalKind::Stash && !failures.is_empty()) {
            continue;
        }
        let is_repeated = progress.started == Some(index);
        let reverted = progress.start(index).and_then(|()| revert::revert(index, record, reverting, is_repeated));
        if let Err(error) = reverted {
            failures.push((record.path.clone(), revert::with_stash(record, error)));
        }
        if let Err(error) = progress.mark(index) {
            failures.push((record.path.clone(), error));
            return;
        }
    }
}

/// The numbers of reverted records, and those of started ones after `STARTED`.
struct Progress {
    file: fs::File,
    /// The earlier records are not reverted yet; `None`: all records.
    left: Option<usize>,
    /// The record at which an earlier call was killed.
    started: Option<usize>,
}

/// Stands before the number of a started record.
const STARTED: char = 's';

impl Progress {
    fn open(folder: &Path) -> io::Result<Progress> {
        let path = folder.join("undone");
        let text = fs::read_to_string(&path).unwrap_or_default();
        // A number without an end of line was cut off.
        let lines = || text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        let left = lines().filter_map(|line| line.parse().ok()).min();
        let started = lines().filter_map(|line| line.strip_prefix(STARTED)?.parse().ok()).min();
        let mut file = OpenOptions::new().append(true).create(true).open(path)?;
        if !text.is_empty() && !text.ends_with('\n') {
            file.write_all(b"x\n")?;
        }
        Ok(Progress { file, left, started })
    }

    fn start(&mut self, index: usize) -> io::Result<()> {
        self.file.write_all(format!("{STARTED}{index}\n").as_bytes())
    }

    fn mark(&mut self, index: usize) -> io::Result<()> {
        self.file.write_all(format!("{index}\n").as_bytes())
    }
}

fn limit(record: &Record) -> Option<Uncovered> {
    if record.kind != JournalKind::Uncovered {
        return None;
    }
    Some(match &record.other {
        Some(program) => Uncovered::Helper(program.clone()),
        None => Uncovered::Refused { path: record.path.clone(), bytes: record.state.size },
    })
}

fn note_failures(folder: &Path, failures: &[(PathBuf, io::Error)]) {
    let mut bytes = Vec::new();
    for (path, error) in failures {
        bytes.extend([path.as_os_str().as_bytes(), b"\0", error.to_string().as_bytes(), b"\0"].concat());
    }
    // Without the file, the next call finds all records reverted, and reports the same failures no more.
    let _ = fs::write(folder.join("failed"), bytes);
}

fn earlier_failures(folder: &Path) -> Vec<(PathBuf, io::Error)> {
    let Ok(bytes) = fs::read(folder.join("failed")) else { return Vec::new() };
    let fields: Vec<_> = bytes.split(|byte| *byte == 0).collect();
    let failure = |pair: &[&[u8]]| {
        let path = PathBuf::from(std::ffi::OsString::from_vec(pair[0].to_vec()));
        (path, io::Error::other(String::from_utf8_lossy(pair[1]).into_owned()))
    };
    fields.chunks_exact(2).map(failure).collect()
}

/// Removes the guard's files; the journal last: without a journal, the undo counts as finished.
fn clear(folder: &Path) {
    // A remaining file takes disk space, with no further harm.
    let _ = fs::remove_dir_all(folder.join("stash"));
    let _ = fs::remove_file(folder.join("table"));
    let _ = fs::remove_file(folder.join("account"));
    let _ = fs::remove_file(folder.join("journal"));
    let _ = fs::remove_file(folder.join("undone"));
}
