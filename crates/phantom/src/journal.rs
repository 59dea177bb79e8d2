//! The phantom's part of the run directory: `phantom-<pid>.jsonl`, one [`JournalEntry`] a line, appended as memory changes.
//!
//! Each line is written with one `write(2)` in append mode, so a killed process leaves a valid prefix. A forked child writes a
//! file of its own. Between two lines the file is closed: a program may close every descriptor, and the number of the journal's would be a
//! file of the program's afterwards (Note `[No descriptor]` in `crates/recorder/src/append.rs`).

use std::collections::HashMap;
use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use wire::record::JournalEntry;

use crate::stderr::complain;

/// The file of this process, and the records that are written only the first time.
#[derive(Default)]
struct Journal {
    pid: u32,
    file: Option<JournalFile>,
    missing: HashSet<&'static str>,
    assumptions: HashMap<&'static str, u64>,
    workspaces: HashSet<(&'static str, u64, u64)>,
}

/// The file by its path, and by its device and number: another file of the same name is not the journal.
struct JournalFile {
    path: PathBuf,
    identity: (u64, u64),
}

impl JournalFile {
    fn create(path: PathBuf, line: &str) -> io::Result<JournalFile> {
        let mut file = above_standard_streams(OpenOptions::new().create(true).append(true).open(&path)?)?;
        file.write_all(line.as_bytes())?;
        Ok(JournalFile { path, identity: identify(&file)? })
    }

    fn append(&self, line: &str) -> io::Result<()> {
        let mut file = above_standard_streams(OpenOptions::new().append(true).open(&self.path)?)?;
        if identify(&file)? != self.identity {
            return Err(io::Error::from_raw_os_error(libc::ESTALE));
        }
        file.write_all(line.as_bytes())
    }
}

fn identify(file: &File) -> io::Result<(u64, u64)> {
    file.metadata().map(|found| (found.dev(), found.ino()))
}

impl Journal {
    /// Raises the bytes that rest on an assumption; `false` if as many rested on it before.
    fn raise_assumption(&mut self, id: &'static str, bytes: u64) -> bool {
        let is_more = self.assumptions.get(id).is_none_or(|&before| before < bytes);
        if is_more {
            self.assumptions.insert(id, bytes);
        }
        is_more
    }
}

static JOURNAL: Mutex<Option<Journal>> = Mutex::new(None);

/// Records that the share of `owner` changed by `delta` bytes, and the bytes in use on the device afterwards.
pub(crate) fn record_memory(device: u32, owner: &str, delta: i64, used_bytes: u64) {
    append(JournalEntry::Memory { device, owner, delta, used_bytes });
}

/// Records that a request was refused for want of memory.
pub(crate) fn record_refusal(device: u32, owner: &str, bytes: u64) {
    append(JournalEntry::Refused { device, owner, bytes });
}

/// Records the memory that a library uses as its workspace, each amount the first time.
pub(crate) fn record_workspace(library: &'static str, address: u64, bytes: u64) {
    if bytes > 0 && with(|journal| journal.workspaces.insert((library, address, bytes))) {
        append(JournalEntry::Workspace { library, address, bytes });
    }
}

/// Records that a modelled figure was used; again only when more memory rests on the figure than before.
pub(crate) fn record_assumption(id: &'static str, text: &str, bytes: u64) {
    if with(|journal| journal.raise_assumption(id, bytes)) {
        append(JournalEntry::Assumption { id, text, bytes });
    }
}

/// Records, once, a call of a function that the phantom lacks, and warns on standard error.
pub(crate) fn record_missing(symbol: &'static str) {
    if with(|journal| journal.missing.insert(symbol)) {
        complain(&format!("the program called {symbol}, which the phantom GPU does not have"));
        append(JournalEntry::Missing { symbol });
    }
}

fn with<R>(body: impl FnOnce(&mut Journal) -> R) -> R {
    let mut guard = JOURNAL.lock().unwrap_or_else(PoisonError::into_inner);
    let pid = std::process::id();
    let journal = guard.get_or_insert_with(Journal::default);
    if journal.pid != pid {
        *journal = Journal { pid, file: open(pid), ..Journal::default() };
    }
    body(journal)
}

fn open(pid: u32) -> Option<JournalFile> {
    let folder = PathBuf::from(std::env::var_os(wire::variable::RUN_DIR)?);
    let path = folder.join(wire::file::journal(pid));
    let devices = crate::device::count();
    let total_bytes = crate::device::profile().total_bytes;
    let line = format!("{}\n", JournalEntry::Phantom { pid, devices, total_bytes });
    let failed = |error| complain(&format!("cannot write {}, nothing is recorded: {error}", path.display()));
    JournalFile::create(path.clone(), &line).map_err(failed).ok()
}

/// Moves a file off the numbers of the standard streams: a program that closed one would otherwise print into the journal.
fn above_standard_streams(file: File) -> io::Result<File> {
    // Rust duplicates to the lowest free number above the standard streams.
    if file.as_raw_fd() <= libc::STDERR_FILENO { file.try_clone() } else { Ok(file) }
}

fn append(entry: JournalEntry) {
    with(|journal| {
        if let Some(file) = &journal.file
            && let Err(error) = file.append(&format!("{entry}\n"))
        {
            complain(&format!("cannot write the run directory, nothing more is recorded: {error}"));
            // The lines so far are a valid prefix; a line after a torn one would not be.
            journal.file = None;
        }
    });
}
