//! Results of dry runs, from one `oomph fit` to the next. The rules are Note [Run cache] in `crates/run/src/cache.rs`.

mod disk;
mod store;

use std::io::ErrorKind;
use std::path::{Path, PathBuf, absolute};

use base::Error;
use diagnose::{Ending, Trial};
use nix::sys::stat::{SFlag, fstat};
use run::cache::{Fingerprint, SearchFacts, Unsure, is_lasting, run_key};
use run::{Conditions, Route};
use wire::file;

use self::disk::RealDisk;
use self::store::Store;
use crate::dry_run::program::Program;
use crate::unpack;

/// The results that a search takes and stores.
pub struct RunCache {
    store: Store,
    search: SearchFacts,
    /// True if runs with a history also find settings of the allocator.
    tunes: bool,
    /// The files that the fork server read.
    server: Option<Result<Fingerprint, Unsure>>,
    /// The first reason for storing no result.
    unsure: Option<Unsure>,
}

/// A run that has ended.
pub(crate) struct EndedRun<'a> {
    pub(crate) conditions: &'a Conditions,
    pub(crate) trial: &'a Trial,
    pub(crate) status: i32,
    pub(crate) timed_out: bool,
    /// The run directory.
    pub(crate) folder: &'a Path,
}

/// The name of a program and its device, as it is known before a run (`run::cache::ProgramKey`).
pub fn name_of(program: &Program) -> String {
    disk::program_key(&program.spec).name(&program.spec)
}

impl RunCache {
    /// The cache of a search whose runs are recorded below `folder`.
    pub(crate) fn open(program: &Program, tunes: bool, folder: &Path) -> Result<RunCache, Error> {
        let caches = unpack::parent()?;
        let ours = vec![absolute(&caches).unwrap_or_else(|_| caches.clone()), folder.to_owned()];
        let search = SearchFacts { ours, temporary: std::env::temp_dir(), began: disk::now() };
        let store = Store::new(caches.join("runs"), &name_of(program));
        Ok(RunCache { store, search, tunes, server: None, unsure: None })
    }

    /// Returns the stored result of a run by any of these routes.
    pub(crate) fn get(&self, conditions: &Conditions, routes: &[Route]) -> Option<Trial> {
        let routes = if self.lacks_history(conditions) { &[] } else { routes };
        routes.iter().find_map(|route| self.store.get(&run_key(conditions, self.tunes, *route)))
    }

    /// Stores the result of a child of the fork server. `server`: the folder of the server's file notes.
    pub(crate) fn put_forked(&mut self, ended: &EndedRun, server: &Path) {
        let search = &self.search;
        let server = self.server.get_or_insert_with(|| read_notes(server, search, true)).clone();
        let own = read_notes(ended.folder, search, false);
        let read = server.and_then(|server| server.check_untouched(&RealDisk).and_then(|()| Ok(vec![server, own?])));
        self.put(ended, Route::Forked, read);
    }

    /// Stores the result of a process of its own.
    pub(crate) fn put_plain(&mut self, ended: &EndedRun) {
        let mut search = self.search.clone();
        search.ours.push(ended.folder.to_owned());
        let read = if has_input() {
            Err(Unsure::Because("it may read standard input".to_owned()))
        } else {
            read_notes(ended.folder, &search, true).map(|fingerprint| vec![fingerprint])
        };
        self.put(ended, Route::Plain, read);
    }

    fn put(&mut self, ended: &EndedRun, route: Route, read: Result<Vec<Fingerprint>, Unsure>) {
        let failure = match &ended.trial.ending {
            Ending::Failed { message } => Some(message.as_str()),
            Ending::Done | Ending::RanOut => None,
        };
        if !is_lasting(failure, ended.status, ended.timed_out) || self.lacks_history(ended.conditions) {
            return;
        }
        match read {
            Ok(read) => self.store.put(&run_key(ended.conditions, self.tunes, route), ended.trial, &read),
            Err(unsure) => {
                self.unsure.get_or_insert(unsure);
            }
        }
    }

    /// True if the result needs the history of the run, which `--max-batch` replays and which is too large to store.
    fn lacks_history(&self, conditions: &Conditions) -> bool {
        conditions.history && !self.tunes
    }

    /// Removes all results of the program, which depends on chance.
    pub fn forget(&self) {
        self.store.forget();
    }

    /// Returns the reason for storing no result, as a remark for the report.
    pub fn remark(&self) -> Option<String> {
        self.unsure.as_ref().map(|unsure| format!("dry runs are made again the next time: {unsure}"))
    }
}

/// Reads the file notes of a run. A process without notes although watched `from_start` was not watched at all.
fn read_notes(folder: &Path, search: &SearchFacts, from_start: bool) -> Result<Fingerprint, Unsure> {
    let notes: PathBuf = folder.join(file::FILES);
    let text = match std::fs::read(&notes) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Err(error) => {
            return Err(Unsure::Because(format!("the files that it read in {} are unknown: {error}", notes.display())));
        }
    };
    if text.is_empty() && from_start {
        return Err(Unsure::Because("its file accesses cannot be observed".to_owned()));
    }
    Fingerprint::of(&text, search, &RealDisk)
}

/// True if standard input holds something that a process could read, and not a second time.
fn has_input() -> bool {
    let kind = fstat(std::io::stdin()).map(|found| SFlag::from_bits_truncate(found.st_mode) & SFlag::S_IFMT);
    kind.is_ok_and(|kind| kind != SFlag::S_IFCHR)
}
