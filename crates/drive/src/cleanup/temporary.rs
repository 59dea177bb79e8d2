//! Temporary folders, which are removed with the process at the latest.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use crate::cleanup::scratch::discard;
use crate::cleanup::watchdog;

/// The existing temporary folders, which are removed if the process ends early.
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
/// The threads that remove folders.
static REMOVALS: Mutex<Vec<JoinHandle<()>>> = Mutex::new(Vec::new());

/// A folder that is removed with this value, or with the process.
pub struct Temporary(PathBuf);

impl Temporary {
    /// Makes a folder among the temporary files.
    pub(crate) fn make() -> io::Result<Temporary> {
        Temporary::make_in(&std::env::temp_dir(), "")
    }

    /// Makes a folder in another place than that of temporary files. The watchdog knows the places of worlds.
    pub(crate) fn make_in(place: &Path, kind: &str) -> io::Result<Temporary> {
        watchdog::start();
        let prefix = format!("{}{kind}", watchdog::folder_prefix(watchdog::owner()));
        let folder = tempfile::Builder::new().prefix(&prefix).tempdir_in(place)?.keep();
        temporary().push(folder.clone());
        Ok(Temporary(folder))
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Removes the folder on a thread; [`finish_removals`] waits.
    pub(crate) fn remove_in_background(self) {
        // Without a thread, the folder is removed here, with the closure.
        if let Ok(removal) = thread::Builder::new().spawn(move || drop(self)) {
            REMOVALS.lock().unwrap_or_else(PoisonError::into_inner).push(removal);
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        for path in discard(&self.0) {
            base::events::remark(&format!(
                "warning: {} could not be put back: its original is in {}",
                path.display(),
                self.0.display()
            ));
        }
        temporary().retain(|path| *path != self.0);
    }
}

fn temporary() -> MutexGuard<'static, Vec<PathBuf>> {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until the folders that are removed on threads are gone.
pub fn finish_removals() {
    let removals = std::mem::take(&mut *REMOVALS.lock().unwrap_or_else(PoisonError::into_inner));
    for removal in removals {
        // A thread that panicked has printed the reason, and the watchdog removes the folder.
        let _: thread::Result<()> = removal.join();
    }
}

/// Removes every temporary folder; for the end of the process, when all programs have ended.
pub(crate) fn abandon() {
    for folder in temporary().drain(..) {
        // The folder's owner may be removing it already.
        discard(&folder);
    }
}
