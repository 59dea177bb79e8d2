//! Makes a world for each run (Note `[World]` in `crates/world/src/lib.rs`), and reads the effects of the program afterwards.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use ::run::Environment;
use base::Error;
use trace::run::{ChangedPath, Effects, FileGuard, PathChange, UncoveredFolder};
use wire::{file, variable};
use world::undo::Uncovered;
use world::{Addition, FileChange, FileChangeKind, Record, Spec};

use crate::cleanup::scratch::list_places;
use crate::cleanup::temporary::Temporary;
use crate::environment;
use crate::guard::downloads::{self, Downloads};
use crate::guard::fetched::{Fetched, Window};
use crate::guard::kept::{Excluded, KeptFiles};
use crate::guard::{descriptors, entering, hosts, others};

/// The most paths in a report.
const MOST_PATHS: usize = 200;

/// The conditions of a world.
#[derive(Default)]
pub(crate) struct WorldPlan {
    /// True for no network but a private loop-back.
    pub(crate) is_offline: bool,
    pub(crate) files: FilePlan,
    /// Files shown on top of the real files.
    pub(crate) additions: Vec<Addition>,
}

/// The fate of the program's changes to files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum FilePlan {
    /// They land in layers.
    #[default]
    Layers,
    /// They are undone from a journal, for this reason.
    Journal(String),
}

/// The files of an ended run that outlive it.
#[derive(Clone, Copy, Default)]
pub(crate) struct EndPlan {
    /// The times of fetched files.
    pub(crate) window: Option<Window>,
    /// True if new files stay.
    pub(crate) keeps_files: bool,
}

/// An ended run.
#[derive(Default)]
pub(crate) struct EndedWorld {
    pub(crate) effects: Effects,
    pub(crate) fetched: Fetched,
    /// New files in the layers, to be moved to their places.
    pub(crate) kept: Option<KeptFiles>,
}

/// A world for a single run, or for each rank of a job in turn.
pub(crate) struct World {
    /// Removed with the world.
    scratches: Vec<Temporary>,
    folder: PathBuf,
    /// The folder for the journal of the guard without namespaces.
    journal: PathBuf,
    files: FilePlan,
    is_offline: bool,
}

impl World {
    /// Makes the scratch folders, and the specification in the run directory `folder`.
    pub(crate) fn make(folder: &Path, plan: WorldPlan) -> Result<World, Error> {
        let WorldPlan { is_offline, files, additions } = plan;
        let failed = |source| Error::RunFolder { folder: folder.to_owned(), source };
        let scratches: Vec<Temporary> =
            list_places().iter().filter_map(|place| Temporary::make_in(place, "world-").ok()).collect();
        let journal = scratches.first().filter(|_| matches!(files, FilePlan::Journal(_)));
        let journal = journal.map_or_else(PathBuf::new, |scratch| scratch.path().to_owned());
        prepare_journal(&journal, folder).map_err(failed)?;
        let known = [std::env::current_dir().ok(), environment::get(environment::HOME).map(PathBuf::from)];
        let spec = Spec {
            has_layers: files == FilePlan::Layers,
            inputs: descriptors::list_inputs(),
            scratches: scratches.iter().map(|scratch| scratch.path().to_owned()).collect(),
            through: vec![folder.to_owned()],
            folders: known.into_iter().flatten().chain([std::env::temp_dir()]).collect(),
            record: folder.join(file::WORLD),
            additions,
            is_offline,
        };
        fs::write(folder.join(file::WORLD_SPEC), spec.to_bytes()).map_err(failed)?;
        // A full disk shows here, not in the process that enters.
        fs::write(folder.join(file::WORLD), [0]).map_err(failed)?;
        Ok(World { scratches, folder: folder.to_owned(), journal, files, is_offline })
    }

    /// The file of the specification.
    fn spec(&self) -> PathBuf {
        self.folder.join(file::WORLD_SPEC)
    }

    /// Adds the guard to the variables of a command with the words of [`World::wrap`].
    pub(crate) fn add_guard(&self, command: &mut Command) {
        entering::delay_preload(command);
        if !self.journal.as_os_str().is_empty() {
            command.env(variable::GUARD, variable::GUARD_FUNCTIONS).env(variable::UNDO, &self.journal);
        }
    }

    /// Adds the guard to the variables of a child of the fork server.
    pub(crate) fn add_forked_guard(&self, environment: &mut Environment) {
        environment.set_world(&self.spec());
        if matches!(self.files, FilePlan::Journal(_)) {
            environment.set_journal(&self.journal);
        }
    }

    /// Returns a command line that enters this world first; the same command line if the program cannot be started.
    pub(crate) fn wrap(&self, words: &[OsString]) -> Vec<OsString> {
        entering::wrap(&self.spec(), words)
    }

    /// Removes the layers of a world without a program.
    pub(super) fn remove_in_background(mut self) {
        std::mem::take(&mut self.scratches).into_iter().for_each(Temporary::remove_in_background);
    }

    /// Reads the effects, undoes the changes, and removes the layers. New files of download caches go to the real caches.
    pub(crate) fn end(mut self, plan: EndPlan) -> EndedWorld {
        let record = self.read_record();
        let refusal = if let FilePlan::Journal(reason) = &self.files { Some(reason) } else { record.refusal.as_ref() };
        let effects = Effects {
            refusal: refusal.cloned(),
            hosts: hosts::read(&self.folder),
            is_offline: self.is_offline,
            is_apart: record.is_apart,
            refused: others::read(&self.folder),
            closed_descriptors: descriptors::list_closed(),
            ..Effects::default()
        };
        if !record.is_entered {
            let effects = self.end_journal(effects, plan.keeps_files);
            self.remove_in_background();
            return EndedWorld { effects, ..EndedWorld::default() };
        }
        let mut ended = end_layers(&record, effects, plan, &self.folder);
        match &mut ended.kept {
            Some(kept) => kept.hold(std::mem::take(&mut self.scratches)),
            None => self.remove_in_background(),
        }
        ended
    }

    /// Reads the record of the program's process.
    pub(super) fn read_record(&self) -> Record {
        Record::read(&fs::read(self.folder.join(file::WORLD)).unwrap_or_default())
    }

    /// Undoes the changes of the journal, but for downloads, and new files if they stay.
    fn end_journal(&self, effects: Effects, keeps_files: bool) -> Effects {
        let (downloads, excluded) = (Downloads::read(&self.folder), Excluded::read(&self.folder));
        let kept = RefCell::new(BTreeSet::new());
        let keeps =
            |path: &Path| keeps_files && excluded.keeps(path, path) && kept.borrow_mut().insert(path.to_owned());
        let undone = world::undo::undo(&self.journal, &|path| downloads.keeps(path) || keeps(path));
        let is_kept =
            |change: &&FileChange| change.kind == FileChangeKind::Made && kept.borrow().contains(&change.path);
        let uncovered = undone.uncovered.iter().map(|it| match it {
            Uncovered::Refused { path, .. } => gap(path, "a large file that was to be changed in place: refused"),
            Uncovered::Helper(path) => gap(path, "a program without the guard"),
        });
        let left = undone.left.iter().map(|(path, reason)| gap(path, reason));
        let failed = undone.failures.iter().map(|(path, error)| gap(path, &error.to_string()));
        let changes: Vec<FileChange> = undone.changes.iter().flat_map(simplify).collect();
        let downloads_kept = changes.iter().filter(|change| downloads.keeps(&change.path)).count() as u64;
        let (guard, uncovered) = (FileGuard::Functions, uncovered.chain(left).chain(failed).collect());
        let files_kept = keeps_files.then(|| changes.iter().filter(is_kept).count() as u64);
        add_changes(Effects { guard, downloads_kept, files_kept, uncovered, ..effects }, &changes)
    }
}

/// An interrupted run leaves objects, too.
impl Drop for World {
    fn drop(&mut self) {
        others::remove_objects(&self.folder);
    }
}

/// Keeps the run directory out of the journal, and writes this process as the owner.
fn prepare_journal(journal: &Path, run: &Path) -> io::Result<()> {
    if journal.as_os_str().is_empty() {
        return Ok(());
    }
    let exempt = [fs::canonicalize(run)?.as_os_str().as_bytes(), b"\0"].concat();
    fs::write(journal.join("exempt"), exempt)?;
    world::undo::claim(journal)
}

fn gap(path: &Path, reason: &str) -> UncoveredFolder {
    UncoveredFolder { path: path.display().to_string(), reason: reason.to_owned() }
}

/// Splits a rename into a removed path and a made path.
fn simplify(change: &world::undo::JournaledChange) -> Vec<FileChange> {
    use world::undo::JournaledKind as Journaled;
    let as_is = |kind| vec![FileChange { path: change.path.clone(), kind }];
    match &change.kind {
        Journaled::Made => as_is(FileChangeKind::Made),
        Journaled::Changed => as_is(FileChangeKind::Changed),
        Journaled::Removed => as_is(FileChangeKind::Removed),
        Journaled::MadeFolder => as_is(FileChangeKind::MadeFolder),
        Journaled::RemovedFolder => as_is(FileChangeKind::RemovedFolder),
        Journaled::Renamed { to } => {
            let made = FileChange { path: to.clone(), kind: FileChangeKind::Made };
            [as_is(FileChangeKind::Removed), vec![made]].concat()
        }
    }
}

fn end_layers(record: &Record, effects: Effects, plan: EndPlan, folder: &Path) -> EndedWorld {
    let counted = world::count(record);
    let downloads_kept = Downloads::read(folder).keep(record, &counted.changes);
    let kept = plan.keeps_files.then(|| KeptFiles::find(record, &counted.changes, &Excluded::read(folder)));
    let fetched = plan.window.map(|window| Fetched::take(record, &counted.changes, window)).unwrap_or_default();
    let uncovered = record.uncovered.iter().map(|it| gap(&it.path, &it.reason)).collect();
    let (guard, written_bytes) = (FileGuard::Namespace, counted.written_bytes);
    let files_kept = kept.as_ref().map(KeptFiles::count);
    let effects = Effects { guard, uncovered, written_bytes, downloads_kept, files_kept, ..effects };
    EndedWorld { effects: add_changes(effects, &counted.changes), fetched, kept }
}

fn add_changes(effects: Effects, changes: &[FileChange]) -> Effects {
    let shown = downloads::without_caches(changes);
    let number = |kinds: &[FileChangeKind]| shown.iter().filter(|change| kinds.contains(&change.kind)).count() as u64;
    Effects {
        files_written: number(&[FileChangeKind::Made, FileChangeKind::Changed]),
        files_removed: number(&[FileChangeKind::Removed]),
        folders_made: number(&[FileChangeKind::MadeFolder]),
        folders_removed: number(&[FileChangeKind::RemovedFolder]),
        paths: shown.iter().take(MOST_PATHS).map(|change| to_path(change)).collect(),
        ..effects
    }
}

fn to_path(change: &FileChange) -> ChangedPath {
    let kind = match change.kind {
        FileChangeKind::Made => PathChange::Made,
        FileChangeKind::Changed => PathChange::Changed,
        FileChangeKind::Removed => PathChange::Removed,
        FileChangeKind::MadeFolder => PathChange::FolderMade,
        FileChangeKind::RemovedFolder => PathChange::FolderRemoved,
    };
    ChangedPath { path: change.path.display().to_string(), change: kind }
}
