//! Download caches: files fetched once by a program, and otherwise fetched again by every later run, dry or real.
//!
//! # Note [Downloads]
//!
//! A dry run loses the written files, with a single exception: new files in the caches below, copies of files of remote
//! machines. New files are moved to the real caches after the run, never over an existing file: later runs need no network.
//!
//! A file in a cache may be the program's own: a checkpoint of a phantom GPU is zeros, and the next real run would load them. So a
//! file needs a witness. The agent notes each file that a function of a library downloaded or unpacked, with the file's size
//! and time at the end of the function (`python/oomph/agent/scenery/fetches.py`): `SIZE MODIFIED PATH` in the file `downloads` of the run
//! directory, each with a NUL behind it. A file without a note, or in another state than noted, is not kept: a later run fetches it again.
//! A link is kept if its target is there. A hollow file, with a header and no values, stays in oomph's own cache of headers,
//! where changed files are kept as well.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use nix::unistd::{Whence, lseek};
use wire::file;
use world::{FileChange, FileChangeKind, Record};

use crate::environment;

/// Fetched headers: the cache of Note [Mirror] in `python/oomph/agent/scenery/weights/mirror.py`. Hollow files stay in this cache.
const HEADERS: &str = "oomph/hub";
/// Download caches below the folder of user caches.
const BELOW_CACHES: [&str; 5] = [HEADERS, "huggingface/hub", "huggingface/datasets/downloads", "torch/hub", "clip"];
/// Download caches below the home.
const BELOW_HOME: [&str; 1] = ["nltk_data"];
/// Variables with the path of a download cache, and the folder below.
const NAMED: [(&str, &str); 5] =
    [("HF_HUB_CACHE", ""), ("HUGGINGFACE_HUB_CACHE", ""), ("HF_HOME", "hub"), ("TORCH_HOME", "hub"), ("NLTK_DATA", "")];
/// Further caches below the home, with changes of no interest to the user.
const OTHERS: [&str; 4] = [".triton", ".nv", ".config/matplotlib", ".local/share/jupyter"];
/// Endings of unfinished downloads and of locks.
const UNFINISHED: [&str; 3] = [".lock", ".incomplete", ".part"];
/// A smaller file is never taken for a hollow file.
const LEAST_HOLLOW_BYTES: u64 = 1 << 20;
/// The unit of `st_blocks` (stat(2)).
const BLOCK_BYTES: u64 = 512;

/// The files that libraries downloaded: size, and time of change in nanoseconds.
pub(crate) struct Downloads {
    noted: BTreeMap<PathBuf, (u64, i128)>,
    /// The start of the run.
    started: Option<SystemTime>,
}

impl Downloads {
    /// Reads the notes of a run from its folder.
    pub(crate) fn read(folder: &Path) -> Downloads {
        let bytes = fs::read(folder.join(file::DOWNLOADS)).unwrap_or_default();
        let started = fs::metadata(folder.join(file::WORLD_SPEC)).and_then(|spec| spec.modified()).ok();
        Downloads { noted: bytes.split(|byte| *byte == 0).filter_map(parse).collect(), started }
    }

    /// Moves new files of the download caches to the real caches; returns the number of moved files.
    pub(crate) fn keep(&self, record: &Record, changes: &[FileChange]) -> u64 {
        let moved = changes
            .iter()
            .filter(|change| is_new_in_cache(change))
            .filter_map(|change| Some((record.find_upper(&change.path)?, change.path.as_path())));
        let (links, files): (Vec<_>, Vec<_>) = moved.partition(|(upper, _)| upper.is_symlink());
        let files = files.into_iter().filter(|(upper, path)| {
            is_in_headers(path) || fs::symlink_metadata(upper).is_ok_and(|found| self.is_noted(path, &found))
        });
        // A download left behind is fetched again.
        let count = files.filter(|(upper, path)| move_to(upper, path, is_in_headers(path)).is_ok()).count();
        // The targets are there by now. A link may lead to a link.
        let is_moved = |(upper, path): &(PathBuf, &Path)| {
            let has_target = fs::read_link(upper).is_ok_and(|target| beside(path, &target).exists());
            has_target && move_to(upper, path, is_in_headers(path)).is_ok()
        };
        let (first, later): (Vec<_>, Vec<_>) = links.into_iter().partition(is_moved);
        (count + first.len() + later.iter().filter(|link| is_moved(link)).count()) as u64
    }

    /// True for a made path that is kept where it is.
    pub(crate) fn keeps(&self, path: &Path) -> bool {
        let change = FileChange { path: path.to_owned(), kind: FileChangeKind::Made };
        let Ok(found) = fs::symlink_metadata(path) else { return false };
        let is_older = |target: &Path| {
            let created = fs::metadata(target).and_then(|found| found.created());
            created.is_ok_and(|created| self.started.is_some_and(|started| created < started))
        };
        let is_witnessed = || match fs::read_link(path).map(|target| beside(path, &target)) {
            Ok(target) => is_older(&target) || fs::canonicalize(target).is_ok_and(|target| self.keeps(&target)),
            Err(_) => is_in_headers(path) || self.is_noted(path, &found),
        };
        !found.is_dir() && is_new_in_cache(&change) && is_witnessed()
    }

    /// True for a file in the state in which a download left it.
    fn is_noted(&self, path: &Path, found: &fs::Metadata) -> bool {
        let modified = i128::from(found.mtime()) * 1_000_000_000 + i128::from(found.mtime_nsec());
        found.is_file() && !is_hollow(found) && self.noted.get(path) == Some(&(found.len(), modified))
    }
}

/// Parses a note.
fn parse(note: &[u8]) -> Option<(PathBuf, (u64, i128))> {
    let mut parts = note.splitn(3, |byte| *byte == b' ');
    let number = |part: Option<&[u8]>| std::str::from_utf8(part?).ok()?.parse::<i128>().ok();
    let (size, modified) = (number(parts.next())?, number(parts.next())?);
    Some((PathBuf::from(OsString::from_vec(parts.next()?.to_vec())), (size.try_into().ok()?, modified)))
}

/// A link's target, as a path without `..`: the folder of the link may not be there yet.
fn beside(link: &Path, target: &Path) -> PathBuf {
    let mut found = link.parent().unwrap_or(link).to_owned();
    for part in target.components() {
        match part {
            Component::ParentDir => drop(found.pop()),
            Component::CurDir => {}
            part => found.push(part),
        }
    }
    found
}

/// True for a path in oomph's own cache of headers.
fn is_in_headers(path: &Path) -> bool {
    caches_folder().is_some_and(|caches| path.starts_with(caches.join(HEADERS)))
}

/// True for a file with few bytes beside its holes.
fn is_hollow(file: &fs::Metadata) -> bool {
    file.is_file() && file.len() >= LEAST_HOLLOW_BYTES && file.blocks() * BLOCK_BYTES < file.len() / 2
}

/// True for a new, finished file in a download cache.
fn is_new_in_cache(change: &FileChange) -> bool {
    let name = change.path.to_string_lossy();
    let is_new =
        change.kind == FileChangeKind::Made || (change.kind == FileChangeKind::Changed && is_in_headers(&change.path));
    is_new
        && list_caches().iter().any(|cache| change.path.starts_with(cache))
        && !UNFINISHED.iter().any(|ending| name.ends_with(ending))
}

/// The changes outside caches.
pub(crate) fn without_caches(changes: &[FileChange]) -> Vec<&FileChange> {
    let hidden = list_hidden();
    // A folder above a cache was made for the cache.
    let is_above = |change: &FileChange| {
        change.kind == FileChangeKind::MadeFolder && hidden.iter().any(|it| it.starts_with(&change.path))
    };
    changes.iter().filter(|change| !is_in(&hidden, &change.path) && !is_above(change)).collect()
}

/// Lists the folders with changes of no interest to the user.
pub(crate) fn list_hidden() -> Vec<PathBuf> {
    let home = environment::get(environment::HOME).map(PathBuf::from);
    let others = home.iter().flat_map(|home| OTHERS.iter().map(|folder| home.join(folder)));
    list_caches().into_iter().chain(caches_folder()).chain(others).chain([PathBuf::from("/dev/shm")]).collect()
}

/// True for a path in one of these folders, or in a cache of Python.
pub(crate) fn is_in(hidden: &[PathBuf], path: &Path) -> bool {
    path.components().any(|part| is_caches_name(&part.as_os_str().to_string_lossy()))
        || hidden.iter().any(|it| path.starts_with(it))
}

/// True for the name of a cache of Python or of `torch.compile` (torch/_inductor/runtime/cache_dir_utils.py, 2.11).
fn is_caches_name(name: &str) -> bool {
    name == "__pycache__" || name.starts_with("torchinductor_")
}

fn caches_folder() -> Option<PathBuf> {
    let caches = environment::get(environment::XDG_CACHE_HOME).map(PathBuf::from);
    caches.or_else(|| Some(PathBuf::from(environment::get(environment::HOME)?).join(".cache")))
}

/// Lists the download caches.
fn list_caches() -> Vec<PathBuf> {
    let home = environment::get(environment::HOME).map(PathBuf::from);
    let below_home = home.iter().flat_map(|home| BELOW_HOME.iter().map(|folder| home.join(folder)));
    let caches = caches_folder();
    let below_caches = caches.iter().flat_map(|caches| BELOW_CACHES.iter().map(|folder| caches.join(folder)));
    let named = NAMED.iter().filter_map(|(name, folder)| Some(PathBuf::from(environment::get(name)?).join(folder)));
    below_home.chain(below_caches).chain(named).filter(|cache| cache.is_absolute()).collect()
}

/// Moves a file or a link, whole or not at all; over an existing file only if `replaces`.
pub(crate) fn move_to(from: &Path, to: &Path, replaces: bool) -> io::Result<()> {
    let folder = to.parent().unwrap_or(to);
    fs::create_dir_all(folder)?;
    if fs::symlink_metadata(to).is_ok() {
        if !replaces {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        fs::remove_file(to)?;
    }
    if let Ok(target) = fs::read_link(from) {
        return symlink(target, to);
    }
    if fs::rename(from, to).is_ok() {
        return Ok(());
    }
    let mut copy = tempfile::NamedTempFile::new_in(folder)?;
    let metadata = fs::metadata(from)?;
    let mut source = fs::File::open(from)?;
    if is_hollow(&metadata) {
        copy_data(&source, copy.as_file(), metadata.len())?;
    } else {
        io::copy(&mut source, &mut copy)?;
    }
    let mode = metadata.permissions().mode();
    copy.as_file().set_permissions(fs::Permissions::from_mode(mode))?;
    copy.persist_noclobber(to).map(|_| ()).map_err(|error| error.error)
}

/// Copies a file between its holes.
fn copy_data(from: &fs::File, to: &fs::File, size: u64) -> io::Result<()> {
    to.set_len(size)?;
    let mut end = 0;
    // Past the last data, the search fails.
    while let Ok(start) = lseek(from, end, Whence::SeekData) {
        end = lseek(from, start, Whence::SeekHole)?;
        let mut data = vec![0; usize::try_from(end - start).map_err(io::Error::other)?];
        let offset = u64::try_from(start).map_err(io::Error::other)?;
        from.read_exact_at(&mut data, offset)?;
        to.write_all_at(&data, offset)?;
    }
    Ok(())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_found_from_a_folder_that_is_not_there() {
        let check = |link, target, expected: &str| {
            assert_eq!(beside(Path::new(link), Path::new(target)), Path::new(expected), "{link} -> {target}");
        };
        check("/hub/model/snapshots/0/config.json", "../../blobs/1", "/hub/model/blobs/1");
        check("/hub/a", "./b", "/hub/b");
        check("/hub/a", "/other/b", "/other/b");
        check("/a", "../../b", "/b");
    }

    #[test]
    fn a_copy_of_a_hollow_file_has_its_holes() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::write(&from, "header").unwrap();
        fs::File::options().write(true).open(&from).unwrap().set_len(1 << 30).unwrap();
        copy_data(&fs::File::open(&from).unwrap(), &fs::File::create(&to).unwrap(), 1 << 30).unwrap();
        let copied = fs::metadata(&to).unwrap();
        assert!(copied.len() == 1 << 30 && is_hollow(&copied), "{} blocks", copied.blocks());
        assert!(fs::read(&to).unwrap().starts_with(b"header\0"));
    }
}
