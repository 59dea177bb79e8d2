//! The places for scratch folders, and the end of a scratch folder: the changes of its journal are undone first.
//!
//! # Note [One journal at a time]
//!
//! A journal is undone in place. Of two runs that change the same file at the same time, the second takes the file of the first for the
//! original, and puts it back. So commands with a journal exclude each other, by a lock in the user's cache folder, and the runs of `fit` take turns.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use base::{Error, SetupError};
use nix::fcntl::{Flock, FlockArg};

/// The file of the lock, in the user's cache folder.
const LOCK: &str = "journal.lock";

/// The places of the disk for scratch folders, the best first.
pub(crate) fn list_places() -> Vec<PathBuf> {
    let caches = crate::unpack::parent().ok();
    let places = [Some(std::env::temp_dir()), Some(PathBuf::from("/var/tmp")), caches, Some(PathBuf::from("/dev/shm"))];
    let mut places: Vec<PathBuf> =
        places.into_iter().flatten().filter_map(|place| fs::canonicalize(place).ok()).collect();
    let mut seen = BTreeSet::new();
    places.retain(|place| seen.insert(place.clone()));
    places
}

/// The right to run with a journal, until the value is dropped.
#[derive(Debug)]
pub(crate) struct JournalLock {
    _file: Flock<File>,
}

impl JournalLock {
    /// Waits for the right, with a message if another process has it.
    pub(crate) fn take() -> Result<JournalLock, Error> {
        let parent = crate::unpack::parent()?;
        let failed = |source| Error::from(SetupError::Cache { folder: parent.clone(), source });
        fs::create_dir_all(&parent).map_err(failed)?;
        let open = || File::options().create(true).append(true).open(parent.join(LOCK));
        let file = if let Ok(file) = Flock::lock(open().map_err(failed)?, FlockArg::LockExclusiveNonblock) {
            file
        } else {
            base::events::remark("waiting for another dry run: without namespaces their changes are undone one by one");
            let waited = Flock::lock(open().map_err(failed)?, FlockArg::LockExclusive);
            waited.map_err(|(_, errno)| failed(errno.into()))?
        };
        Ok(JournalLock { _file: file })
    }
}

/// Puts the files back that a killed oomph has left changed; returns the paths that could not be put back.
pub(crate) fn finish_abandoned() -> Vec<PathBuf> {
    let folders = list_places().into_iter().flat_map(|place| world::undo::find_abandoned(&place));
    folders.flat_map(|folder| discard(&folder)).collect()
}

/// Removes a scratch folder, after the changes of its journal were undone; returns the paths that could not be put back, whose
/// originals stay in the folder.
pub(crate) fn discard(folder: &Path) -> Vec<PathBuf> {
    // The watchdog of a killed command and the next command may come at the same time.
    let journal = File::open(folder.join("journal")).ok();
    let _lock = journal.and_then(|journal| Flock::lock(journal, FlockArg::LockExclusive).ok());
    let failures = world::undo::undo(folder, &|_| false).failures;
    if failures.is_empty() {
        // A folder that stays takes room, and nothing else.
        let _: io::Result<()> = world::remove(folder);
    }
    failures.into_iter().map(|(path, _)| path).collect()
}
