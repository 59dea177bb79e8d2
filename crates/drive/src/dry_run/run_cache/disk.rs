//! This machine's inputs of a dry run: files, environment, program files.

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::hash::{DefaultHasher, Hasher as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use nix::sys::resource::{Resource, getrlimit};
use run::RunSpec;
use run::cache::{Disk, ProgramKey, State};
use trace::source_file::is_user_file;
use wire::digest::hash_names;

use crate::environment;
use crate::unpack;

/// The largest file whose content is hashed.
const MOST_HASHED_BYTES: u64 = 64 << 20;

/// The file system.
pub(super) struct RealDisk;

impl Disk for RealDisk {
    fn state(&self, path: &Path) -> Option<State> {
        fs::metadata(path).ok().map(|found| state(&found))
    }

    /// Only the content of a user's file counts: installed ones are many, large, and seldom edited.
    fn content(&self, path: &Path, state: State) -> Option<u64> {
        let is_small = state.is_regular() && state.size <= MOST_HASHED_BYTES;
        if !is_small || !is_user_file(&path.to_string_lossy(), "") || path.starts_with("/usr") {
            return None;
        }
        let mut hasher = DefaultHasher::new();
        hasher.write(&fs::read(path).ok()?);
        Some(hasher.finish())
    }

    /// The digest of Note `[Files looked at]` of the phantom.
    fn names(&self, folder: &Path, importable_only: bool) -> Option<String> {
        let entries = fs::read_dir(folder).ok()?;
        let names = entries.map(|entry| Some(entry.ok()?.file_name().as_bytes().to_owned()));
        Some(format!("{:016x}", hash_names(names.collect::<Option<_>>()?, importable_only)))
    }

    fn canonical(&self, path: &Path) -> Option<PathBuf> {
        fs::canonicalize(path).ok()
    }
}

fn state(found: &Metadata) -> State {
    let time = |seconds: i64, nanoseconds: i64| seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds);
    State {
        size: found.size(),
        modified: time(found.mtime(), found.mtime_nsec()),
        changed: time(found.ctime(), found.ctime_nsec()),
        inode: found.ino(),
        mode: found.mode(),
    }
}

/// The time, in nanoseconds since 1970.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// The process limits that end a program, or fail its requests.
fn limits() -> Vec<(u64, u64)> {
    use Resource::{
        RLIMIT_AS, RLIMIT_CPU, RLIMIT_DATA, RLIMIT_FSIZE, RLIMIT_MEMLOCK, RLIMIT_NOFILE, RLIMIT_NPROC, RLIMIT_STACK,
    };
    let all =
        [RLIMIT_AS, RLIMIT_CPU, RLIMIT_DATA, RLIMIT_FSIZE, RLIMIT_MEMLOCK, RLIMIT_NOFILE, RLIMIT_NPROC, RLIMIT_STACK];
    all.into_iter().filter_map(|resource| getrlimit(resource).ok()).collect()
}

/// Gathers everything that all runs of a search have in common.
pub(super) fn program_key(spec: &RunSpec) -> ProgramKey {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let key = ProgramKey {
        carried: unpack::HASH.to_owned(),
        oomph: program_file(std::env::current_exe().unwrap_or_default()),
        program: program_file(find_program(&spec.command)),
        folder: std::env::current_dir().unwrap_or_default(),
        environment: Vec::new(),
        machine: (host, std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)),
        limits: limits(),
    };
    key.with_environment(std::env::vars_os())
}

fn program_file(path: PathBuf) -> (PathBuf, Option<State>) {
    let path = fs::canonicalize(&path).unwrap_or(path);
    let state = RealDisk.state(&path);
    (path, state)
}

/// The program file of a command line, as the shell would find it.
fn find_program(command: &[OsString]) -> PathBuf {
    let name = PathBuf::from(command.first().cloned().unwrap_or_default());
    let is_path = name.parent().is_some_and(|parent| parent != Path::new(""));
    let path = std::env::var_os(environment::PATH).filter(|_| !is_path).unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(&name)).find(|file| file.is_file()).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by it")]

    use run::cache::{Fingerprint, SearchFacts};

    use super::*;

    fn note(kind: char, path: &Path) -> String {
        let state = RealDisk.state(path).map_or_else(|| "-".to_owned(), |state| state.to_string());
        format!("{kind} {state} {}\0", path.display())
    }

    #[test]
    fn changes_on_a_real_disk_are_seen() {
        type Act = fn(&Path);
        let acts: [(&str, Act, bool); 9] = [
            ("nothing", |_| {}, true),
            ("the same again", |folder| fs::write(folder.join("data"), "1").unwrap(), true),
            ("content", |folder| fs::write(folder.join("data"), "2").unwrap(), false),
            ("gone", |folder| fs::remove_file(folder.join("data")).unwrap(), false),
            ("come", |folder| fs::write(folder.join("absent"), "").unwrap(), false),
            ("a folder", |folder| fs::create_dir(folder.join("absent")).unwrap(), false),
            ("a module", |folder| fs::write(folder.join("torch.py"), "").unwrap(), false),
            ("a patch", |folder| fs::write(folder.join("fit.patch"), "").unwrap(), true),
            ("a listed name", |folder| fs::write(folder.join("listed/x"), "").unwrap(), false),
        ];
        for (name, act, expected) in acts {
            let folder = tempfile::tempdir().unwrap();
            let folder = folder.path();
            fs::write(folder.join("data"), "1").unwrap();
            fs::create_dir(folder.join("listed")).unwrap();
            let names = |folder: &Path, importable_only| RealDisk.names(folder, importable_only).unwrap();
            let listed = folder.join("listed");
            let notes = [
                note('r', &folder.join("data")),
                note('s', &folder.join("absent")),
                note('s', folder),
                format!("i {} {}\0", names(folder, true), folder.display()),
                format!("l {} {}\0", names(&listed, false), listed.display()),
            ];
            let search = SearchFacts { ours: Vec::new(), temporary: std::env::temp_dir(), began: now() };
            let fingerprint = Fingerprint::of(notes.concat().as_bytes(), &search, &RealDisk).unwrap();
            act(folder);
            assert_eq!(fingerprint.holds(&RealDisk), expected, "{name}");
        }
    }
}
