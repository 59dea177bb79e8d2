//! Unpacks what the binary carries: the phantom library and the agent, into a folder named by their hash.
//!
//! A folder is filled beside its place and then renamed to it, so that it is whole or absent; when two start at once,
//! the second finds the first's and throws its own away. A folder that lost files since is made anew.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf, absolute};

use nix::sys::statvfs::{FsFlags, statvfs};

use crate::environment;
use crate::error::Error;

include!(concat!(env!("OUT_DIR"), "/carried.rs"));

/// Names under which programs open the driver at run time; all are the phantom.
const LINKS: [&str; 3] = ["libcuda.so.1", "libcuda.so", "libnvidia-ml.so.1"];

/// The phantom's file name.
pub(crate) const LIBRARY: &str = "liboomph_phantom.so";

/// Where things were unpacked.
#[derive(Clone, Debug)]
pub(crate) struct Unpacked {
    /// The folder of the phantom and its links.
    pub(crate) library_dir: PathBuf,
    /// The folder of the agent's `sitecustomize`.
    pub(crate) inject_dir: PathBuf,
}

/// Unpacks, unless that was done before.
pub(crate) fn unpack() -> Result<Unpacked, Error> {
    let parent = searchable(parent()?)?;
    let folder = parent.join(HASH);
    if !is_whole(&folder) {
        fill(&parent, &folder).map_err(|source| Error::Cache { folder: parent.clone(), source })?;
    }
    check_exec(&folder)?;
    Ok(Unpacked { library_dir: folder.join("lib"), inject_dir: folder.join("python/oomph/agent/inject") })
}

/// The folder that holds one folder for each version, and what `fit` keeps.
pub(crate) fn parent() -> Result<PathBuf, Error> {
    if let Some(chosen) = environment::get(environment::CACHE_DIR) {
        return Ok(PathBuf::from(chosen));
    }
    let caches = environment::get(environment::XDG_CACHE_HOME).map(PathBuf::from);
    let caches = caches.or_else(|| Some(PathBuf::from(environment::get(environment::HOME)?).join(".cache")));
    Ok(caches.ok_or(Error::NoCache)?.join("oomph"))
}

/// The folder as the program finds it from wherever it goes: it comes to stand in LD_LIBRARY_PATH and PYTHONPATH.
fn searchable(parent: PathBuf) -> Result<PathBuf, Error> {
    let folder = absolute(&parent).map_err(|source| Error::Cache { folder: parent, source })?;
    let splits = folder.as_os_str().as_bytes().iter().any(|byte| b":;".contains(byte));
    if splits { Err(Error::CacheSplits(folder)) } else { Ok(folder) }
}

/// Whether every file is there in its full length.
fn is_whole(folder: &Path) -> bool {
    FILES
        .iter()
        .all(|(name, content)| fs::metadata(folder.join(name)).is_ok_and(|found| found.len() == content.len() as u64))
}

fn fill(parent: &Path, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(parent)?;
    let scratch = tempfile::Builder::new().prefix(".unpacking-").tempdir_in(parent)?;
    for (name, content) in FILES {
        let path = scratch.path().join(name);
        fs::create_dir_all(path.parent().unwrap_or(parent))?;
        fs::write(path, content)?;
    }
    for link in LINKS {
        symlink(LIBRARY, scratch.path().join("lib").join(link))?;
    }
    match fs::rename(scratch.path(), folder) {
        // Another oomph was faster; its folder has the same content.
        Err(_) if is_whole(folder) => Ok(()),
        // Something has deleted files from it.
        Err(_) if folder.is_dir() => fs::remove_dir_all(folder).and_then(|()| fs::rename(scratch.path(), folder)),
        renamed => renamed,
    }
}

/// The dynamic loader would only say «failed to map segment».
fn check_exec(folder: &Path) -> Result<(), Error> {
    let is_noexec = statvfs(folder).is_ok_and(|stat| stat.flags().contains(FsFlags::ST_NOEXEC));
    if is_noexec { Err(Error::CacheNoExec(folder.to_owned())) } else { Ok(()) }
}
