//! Makes a world for each run (Note [World] in `crates/world/src/lib.rs`), and reads the effects of the program afterwards.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use trace::run::{ChangedPath, Effects, FileGuard, PathChange, UncoveredFolder};
use wire::{file, variable};
use world::{Change, ChangeKind, Record, Spec};

use super::downloads;
use super::run_dir::Temporary;
use crate::environment;
use crate::error::Error;

/// The hidden argument; the file of the specification and a command line follow.
const ENTER: &str = "--enter-world";
/// For the dynamic loader: the libraries to load first.
const LD_PRELOAD: &str = "LD_PRELOAD";
/// The most paths in a report.
const MOST_PATHS: usize = 200;

/// The places of the disk for scratch folders, the best first.
pub(crate) fn list_places() -> Vec<PathBuf> {
    let caches = super::unpack::parent().ok();
    let places = [Some(std::env::temp_dir()), Some(PathBuf::from("/var/tmp")), caches, Some(PathBuf::from("/dev/shm"))];
    let mut places: Vec<PathBuf> =
        places.into_iter().flatten().filter_map(|place| fs::canonicalize(place).ok()).collect();
    // The order is that of preference, so equal places are found by hand.
    let mut index = 0;
    while index < places.len() {
        if places[..index].contains(&places[index]) {
            places.remove(index);
        } else {
            index += 1;
        }
    }
    places
}

/// A world that one run enters, or each rank of a job in turn.
pub(crate) struct World {
    /// Removed with the world.
    _scratches: Vec<Temporary>,
    folder: PathBuf,
    is_offline: bool,
}

impl World {
    /// Makes the scratch folders, and the specification in the run directory `folder`.
    pub(crate) fn make(folder: &Path, is_offline: bool) -> Result<World, Error> {
        let failed = |source| Error::RunFolder { folder: folder.to_owned(), source };
        let scratches: Vec<Temporary> =
            list_places().iter().filter_map(|place| Temporary::make_in(place, "world-").ok()).collect();
        let known = [std::env::current_dir().ok(), environment::get(environment::HOME).map(PathBuf::from)];
        let spec = Spec {
            scratches: scratches.iter().map(|scratch| scratch.path().to_owned()).collect(),
            through: vec![folder.to_owned()],
            folders: known.into_iter().flatten().chain([std::env::temp_dir()]).collect(),
            record: folder.join(file::WORLD),
            is_offline,
        };
        fs::write(folder.join(file::WORLD_SPEC), spec.to_bytes()).map_err(failed)?;
        Ok(World { _scratches: scratches, folder: folder.to_owned(), is_offline })
    }

    /// The file of the specification.
    pub(crate) fn spec(&self) -> PathBuf {
        self.folder.join(file::WORLD_SPEC)
    }

    /// Returns the command line that enters this world first; the same command line if its program cannot be started.
    pub(crate) fn wrap(&self, words: &[OsString]) -> Vec<OsString> {
        let Ok(ourselves) = std::env::current_exe() else { return words.to_vec() };
        if !words.first().is_some_and(|program| can_start(program)) {
            return words.to_vec();
        }
        let before = [ourselves.into_os_string(), ENTER.into(), self.spec().into_os_string()];
        before.into_iter().chain(words.iter().cloned()).collect()
    }

    /// Reads the effects, and removes the layers. Files of the download caches are moved to their place.
    pub(crate) fn end(self) -> Effects {
        let record = Record::read(&fs::read(self.folder.join(file::WORLD)).unwrap_or_default());
        let counted = world::count(&record);
        let downloads_kept = downloads::keep(&record, &counted.changes);
        let shown = downloads::without_caches(&counted.changes);
        let number = |kinds: &[ChangeKind]| shown.iter().filter(|change| kinds.contains(&change.kind)).count() as u64;
        Effects {
            guard: if record.is_entered { FileGuard::Namespace } else { FileGuard::None },
            refusal: record.refusal,
            uncovered: record
                .uncovered
                .iter()
                .map(|it| UncoveredFolder { path: it.path.display().to_string(), reason: it.reason.clone() })
                .collect(),
            files_written: number(&[ChangeKind::Made, ChangeKind::Changed]),
            files_removed: number(&[ChangeKind::Removed]),
            folders_made: number(&[ChangeKind::MadeFolder]),
            folders_removed: number(&[ChangeKind::RemovedFolder]),
            disk_bytes: counted.disk_bytes,
            paths: shown.iter().take(MOST_PATHS).map(|change| to_path(change)).collect(),
            downloads_kept,
            hosts: super::hosts::read(&self.folder),
            is_offline: self.is_offline,
        }
    }
}

/// True if a program is found, as `execvp` looks for it.
fn can_start(program: &OsStr) -> bool {
    let is_program = |path: &Path| fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0);
    if Path::new(program).components().count() > 1 {
        return is_program(Path::new(program));
    }
    let folders = environment::get(environment::PATH).unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| is_program(&folder.join(program)))
}

fn to_path(change: &Change) -> ChangedPath {
    let kind = match change.kind {
        ChangeKind::Made => PathChange::Made,
        ChangeKind::Changed => PathChange::Changed,
        ChangeKind::Removed => PathChange::Removed,
        ChangeKind::MadeFolder => PathChange::FolderMade,
        ChangeKind::RemovedFolder => PathChange::FolderRemoved,
    };
    ChangedPath { path: change.path.display().to_string(), change: kind }
}

/// Keeps the phantom out of the process that enters the world; the program loads it.
pub(crate) fn delay_preload(command: &mut Command) {
    let preload = command.get_envs().find(|(name, _)| *name == LD_PRELOAD).and_then(|(_, value)| value).map(OsStr::to_owned);
    if let Some(preload) = preload {
        command.env_remove(LD_PRELOAD).env(variable::PRELOAD, preload);
    }
}

/// Returns the specification and the command line of a process that enters a world; `None` for every other command line.
pub(crate) fn find_entering(line: &[OsString]) -> Option<(&Path, &[OsString])> {
    match line {
        [_, word, spec, words @ ..] if word == ENTER && !words.is_empty() => Some((Path::new(spec), words)),
        _ => None,
    }
}

/// Enters a world and becomes the program; returns the error of a program that cannot be started.
pub(crate) fn become_program(spec: &Path, words: &[OsString]) -> io::Error {
    let entered = fs::read(spec).and_then(|bytes| Spec::read(&bytes).map_err(io::Error::other));
    let entered = match entered.map(|spec| world::enter(&spec)) {
        Ok(Ok(is_entered)) => is_entered,
        Ok(Err(error)) => return io::Error::other(error),
        Err(error) => return error,
    };
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env_remove(variable::PRELOAD);
    if let Some(preload) = std::env::var_os(variable::PRELOAD) {
        command.env(LD_PRELOAD, preload);
    }
    if entered {
        command.env(variable::GUARD, variable::GUARD_NAMESPACE);
    }
    command.exec()
}
