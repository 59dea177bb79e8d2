//! The files of a program, compared until one has another content.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use base::interrupt;
use drive::records;

/// The time between two comparisons: a file system in a network tells of no changes.
const PAUSE: Duration = Duration::from_millis(50);

/// The size and the time of a file; `None` for a file that is gone.
type Stamp = Option<(u64, SystemTime)>;

/// The followed files, each with its stamp and the digest of its content.
#[derive(Debug, Default)]
pub(super) struct WatchedFiles(BTreeMap<PathBuf, (Stamp, Option<String>)>);

impl WatchedFiles {
    /// Follows the files, and all files of earlier calls: a program that fails shows only some. A file saved after `began`, the start of the
    /// last run, counts as saved.
    pub(super) fn follow(&mut self, sources: &[PathBuf], script: Option<&Path>, began: SystemTime) {
        let script = script.and_then(|script| script.canonicalize().ok());
        for path in sources.iter().cloned().chain(script) {
            self.0.entry(path).or_insert_with_key(|path| match stamp(path) {
                Some((_, modified)) if modified >= began => (None, None),
                known => (known, records::digest(path)),
            });
        }
    }

    /// Waits until a file has another content, and returns the path; `None` at Ctrl-C.
    pub(super) fn wait(&mut self) -> Option<PathBuf> {
        loop {
            if interrupt::has_come() {
                return None;
            }
            if let Some(path) = self.find_saved() {
                return Some(path);
            }
            thread::sleep(PAUSE);
        }
    }

    /// Only an existing file counts as saved: an editor may remove the file for a moment.
    fn find_saved(&mut self) -> Option<PathBuf> {
        let mut saved = None;
        for (path, (known, digest)) in &mut self.0 {
            let now = stamp(path);
            if now.is_none() || now == *known {
                continue;
            }
            *known = now;
            let content = records::digest(path);
            if content != *digest {
                *digest = content;
                saved.get_or_insert_with(|| path.clone());
            }
        }
        saved
    }
}

fn stamp(path: &Path) -> Stamp {
    let found = fs::metadata(path).ok()?;
    Some((found.len(), found.modified().ok()?))
}
