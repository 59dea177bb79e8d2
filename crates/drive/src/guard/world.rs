//! Makes a world for each run (Note `[World]` in `crates/world/src/lib.rs`), and reads the effects of the program afterwards.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use ::run::Environment;
use trace::run::{ChangedPath, Effects, FileGuard, PathChange, UncoveredFolder};
use wire::{file, variable};
use world::undo::Uncovered;
use world::{Addition, FileChange, FileChangeKind, Record, Spec};

use crate::cleanup::scratch::list_places;
use crate::cleanup::temporary::Temporary;
use crate::environment;
use crate::error::Error;
use crate::guard::downloads::{self, Downloads};
use crate::guard::fetched::{Fetched, Window};

/// The hidden argument; the file of the specification and a command line follow.
const ENTER: &str = "--enter-world";
/// For the dynamic loader: the libraries to load first.
const LD_PRELOAD: &str = "LD_PRELOAD";
/// The most paths in a report.
const MOST_PATHS: usize = 200;

/// The effects of a run whose changes stay.
pub(crate) fn read_unguarded(folder: &Path, is_offline: bool) -> Effects {
    Effects { hosts: crate::guard::hosts::read(folder), is_offline, ..Effects::default() }
}

/// The conditions of a world.
#[derive(Default)]
pub(crate) struct WorldPlan {
    /// True for no network but a private loop-back.
    pub(crate) is_offline: bool,
    /// The reason for a journal in place of layers.
    pub(crate) refusal: Option<String>,
    /// Files shown on top of the real files.
    pub(crate) additions: Vec<Addition>,
}

/// A world for a single run, or for each rank of a job in turn.
pub(crate) struct World {
    /// Removed with the world.
    scratches: Vec<Temporary>,
    folder: PathBuf,
    /// The folder for the journal of the guard without namespaces.
    journal: PathBuf,
    /// The reason for a journal in place of layers.
    refusal: Option<String>,
    is_offline: bool,
}

impl World {
    /// Makes the scratch folders, and the specification in the run directory `folder`.
    pub(crate) fn make(folder: &Path, plan: WorldPlan) -> Result<World, Error> {
        let WorldPlan { is_offline, refusal, additions } = plan;
        let failed = |source| Error::RunFolder { folder: folder.to_owned(), source };
        let scratches: Vec<Temporary> =
            list_places().iter().filter_map(|place| Temporary::make_in(place, "world-").ok()).collect();
        let journal = scratches.first().filter(|_| refusal.is_some());
        let journal = journal.map_or_else(PathBuf::new, |scratch| scratch.path().to_owned());
        prepare_journal(&journal, folder).map_err(failed)?;
        let known = [std::env::current_dir().ok(), environment::get(environment::HOME).map(PathBuf::from)];
        let spec = Spec {
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
        Ok(World { scratches, folder: folder.to_owned(), journal, refusal, is_offline })
    }

    /// The file of the specification.
    fn spec(&self) -> PathBuf {
        self.folder.join(file::WORLD_SPEC)
    }

    /// True if the changes of the run are undone from a journal.
    pub(crate) fn is_journaled(&self) -> bool {
        self.refusal.is_some()
    }

    /// Adds the guard to the variables of a command with the words of [`World::wrap`].
    pub(crate) fn add_guard(&self, command: &mut Command) {
        match &self.refusal {
            None => delay_preload(command),
            Some(_) => add_journal(command, &self.journal),
        }
    }

    /// Adds the guard to the variables of a child of the fork server.
    pub(crate) fn add_forked_guard(&self, environment: &mut Environment) {
        match &self.refusal {
            None => environment.set_world(&self.spec()),
            Some(_) => environment.set_journal(&self.journal),
        }
    }

    /// Returns a command line that enters this world first; the same command line if the program cannot be started.
    pub(crate) fn wrap(&self, words: &[OsString]) -> Vec<OsString> {
        let Ok(ourselves) = std::env::current_exe() else { return words.to_vec() };
        if self.refusal.is_some() || !words.first().is_some_and(|program| can_start(program)) {
            return words.to_vec();
        }
        let before = [ourselves.into_os_string(), ENTER.into(), self.spec().into_os_string()];
        before.into_iter().chain(words.iter().cloned()).collect()
    }

    /// Removes the layers of a world without a program.
    pub(super) fn remove_in_background(self) {
        self.scratches.into_iter().for_each(Temporary::remove_in_background);
    }

    /// Reads the effects, undoes the changes, and removes the layers. New files of download caches go to the real caches.
    /// New files of `window` are taken for later runs.
    pub(crate) fn end(self, window: Option<Window>) -> (Effects, Fetched) {
        let record = self.read_record();
        let effects = Effects {
            refusal: self.refusal.clone().or_else(|| record.refusal.clone()),
            hosts: crate::guard::hosts::read(&self.folder),
            is_offline: self.is_offline,
            ..Effects::default()
        };
        let ended = if record.is_entered {
            end_layers(&record, effects, window, &Downloads::read(&self.folder))
        } else {
            (self.end_journal(effects), Fetched::default())
        };
        self.remove_in_background();
        ended
    }

    /// Reads the record of the program's process.
    pub(super) fn read_record(&self) -> Record {
        Record::read(&fs::read(self.folder.join(file::WORLD)).unwrap_or_default())
    }

    /// Undoes the changes of the journal.
    fn end_journal(&self, effects: Effects) -> Effects {
        let downloads = Downloads::read(&self.folder);
        let undone = world::undo::undo(&self.journal, &|path| downloads.keeps(path));
        let uncovered = undone.uncovered.iter().map(|it| match it {
            Uncovered::Refused { path, .. } => gap(path, "a large file that was to be changed in place: refused"),
            Uncovered::Helper(path) => gap(path, "a program without the guard"),
        });
        let left = undone.left.iter().map(|(path, reason)| gap(path, reason));
        let failed = undone.failures.iter().map(|(path, error)| gap(path, &error.to_string()));
        let changes: Vec<FileChange> = undone.changes.iter().flat_map(simplify).collect();
        let downloads_kept = changes.iter().filter(|change| downloads.keeps(&change.path)).count() as u64;
        let guard = FileGuard::Functions;
        add_changes(
            Effects { guard, downloads_kept, uncovered: uncovered.chain(left).chain(failed).collect(), ..effects },
            &changes,
        )
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

fn end_layers(record: &Record, effects: Effects, window: Option<Window>, downloads: &Downloads) -> (Effects, Fetched) {
    let counted = world::count(record);
    let downloads_kept = downloads.keep(record, &counted.changes);
    let fetched = window.map(|window| Fetched::take(record, &counted.changes, window)).unwrap_or_default();
    let uncovered = record.uncovered.iter().map(|it| gap(&it.path, &it.reason)).collect();
    let (guard, written_bytes) = (FileGuard::Namespace, counted.written_bytes);
    let effects = Effects { guard, uncovered, written_bytes, downloads_kept, ..effects };
    (add_changes(effects, &counted.changes), fetched)
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

/// True if the program is found, by the rules of `execvp`.
fn can_start(program: &OsStr) -> bool {
    let is_program =
        |path: &Path| fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0);
    if Path::new(program).components().count() > 1 {
        return is_program(Path::new(program));
    }
    let folders = environment::get(environment::PATH).unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| is_program(&folder.join(program)))
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

/// Adds the variables of a journal.
fn add_journal(command: &mut Command, journal: &Path) {
    if !journal.as_os_str().is_empty() {
        command.env(variable::GUARD, variable::GUARD_FUNCTIONS).env(variable::UNDO, journal);
    }
}

/// Keeps the phantom out of the process that enters the world; the program loads the phantom.
fn delay_preload(command: &mut Command) {
    let preload =
        command.get_envs().find(|(name, _)| *name == LD_PRELOAD).and_then(|(_, value)| value).map(OsStr::to_owned);
    if let Some(preload) = preload {
        command.env_remove(LD_PRELOAD).env(variable::PRELOAD, preload);
    }
}

/// Returns the specification and the command line of a process that enters a world; `None` for any further command line.
pub fn find_entering(line: &[OsString]) -> Option<(&Path, &[OsString])> {
    match line {
        [_, word, spec, words @ ..] if word == ENTER && !words.is_empty() => Some((Path::new(spec), words)),
        _ => None,
    }
}

/// Enters a world and becomes the program; returns the error if the program cannot be started.
pub fn become_program(spec: &Path, words: &[OsString]) -> io::Error {
    let spec = match fs::read(spec).and_then(|bytes| Spec::read(&bytes).map_err(io::Error::other)) {
        Ok(spec) => spec,
        Err(error) => return error,
    };
    match world::enter(&spec) {
        Ok(true) => {}
        Ok(false) => return io::Error::other("the kernel refuses a namespace now"),
        Err(error) => return io::Error::other(error),
    }
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env_remove(variable::PRELOAD);
    if let Some(preload) = std::env::var_os(variable::PRELOAD) {
        command.env(LD_PRELOAD, preload);
    }
    command.env(variable::GUARD, variable::GUARD_NAMESPACE);
    command.exec()
}
