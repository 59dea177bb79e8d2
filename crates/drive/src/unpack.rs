//! Unpacks the libraries of the phantom and the recorder, and the agent, compressed in the binary, into a folder named by their hash.
//!
//! The folder is filled under a scratch name and then renamed, so that it is complete or absent. Of two simultaneous
//! processes, the second finds the folder of the first and deletes its own. A folder with lost files is replaced.

use std::fs;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf, absolute};

use base::{Error, SetupError};
use flate2::read::ZlibDecoder;
use nix::sys::statvfs::{FsFlags, statvfs};
use run::environment::LIBRARY;

use crate::environment;

pub(crate) use self::carried::HASH;
use self::carried::{FILES, PACKED};

/// The files inside the binary, written by the build script.
mod carried {
    #![allow(clippy::unreadable_literal, reason = "the lengths of files are written by a program")]
    include!(concat!(env!("OUT_DIR"), "/carried.rs"));
}

/// True if the build script put the libraries into the binary.
const CARRIES_LIBRARIES: bool = cfg!(target_arch = "x86_64");
/// Names under which programs open the driver at run time; each links to the phantom.
const LINKS: [&str; 3] = ["libcuda.so.1", "libcuda.so", "libnvidia-ml.so.1"];

/// The folder of the unpacked files inside that of a real run, where the user's cache cannot be written.
const BESIDE: &str = "unpacked";

/// The unpacked folders.
#[derive(Clone, Debug)]
pub struct Unpacked {
    /// The folder of the phantom and its links.
    pub library_dir: PathBuf,
    /// The folder of the agent's `sitecustomize`.
    pub inject_dir: PathBuf,
}

/// Refuses a processor that no library of the phantom and the recorder is built for.
pub(crate) fn check_processor() -> Result<(), SetupError> {
    if CARRIES_LIBRARIES { Ok(()) } else { Err(SetupError::OtherProcessor(std::env::consts::ARCH)) }
}

/// Unpacks all files, unless an earlier run did.
pub fn unpack() -> Result<Unpacked, Error> {
    unpack_in(parent()?)
}

/// Unpacks all files for a real run in `folder`. A home that cannot be written must not keep the program from running: the files then lie
/// beside the recording.
pub fn unpack_for(folder: &Path) -> Result<Unpacked, Error> {
    unpack().or_else(|problem| unpack_in(folder.join(BESIDE)).map_err(|_| problem))
}

fn unpack_in(parent: PathBuf) -> Result<Unpacked, Error> {
    check_processor()?;
    let parent = searchable(parent)?;
    let folder = parent.join(HASH);
    if !is_whole(&folder) {
        fill(&parent, &folder).map_err(|source| Error::from(SetupError::Cache { folder: parent.clone(), source }))?;
    }
    check_exec(&folder)?;
    Ok(Unpacked { library_dir: folder.join("lib"), inject_dir: folder.join(wire::file::INJECT) })
}

/// The user's cache folder of oomph: one folder for each version, and the run cache of `fit`.
pub(crate) fn parent() -> Result<PathBuf, Error> {
    if let Some(chosen) = environment::get(environment::CACHE_DIR) {
        return Ok(PathBuf::from(chosen));
    }
    let caches = environment::get(environment::XDG_CACHE_HOME).map(PathBuf::from);
    let caches = caches.or_else(|| Some(PathBuf::from(environment::get(environment::HOME)?).join(".cache")));
    Ok(caches.ok_or(Error::from(SetupError::NoCache))?.join("oomph"))
}

/// Makes the folder absolute, for LD_LIBRARY_PATH and PYTHONPATH; refuses separators of those lists.
fn searchable(parent: PathBuf) -> Result<PathBuf, Error> {
    let folder = absolute(&parent).map_err(|source| Error::from(SetupError::Cache { folder: parent, source }))?;
    let splits = folder.as_os_str().as_bytes().iter().any(|byte| b":;".contains(byte));
    if splits { Err(Error::from(SetupError::CacheSplits(folder))) } else { Ok(folder) }
}

/// Checks that every file is present in full length.
fn is_whole(folder: &Path) -> bool {
    FILES.iter().all(|(name, length)| fs::metadata(folder.join(name)).is_ok_and(|found| found.len() == *length as u64))
}

fn fill(parent: &Path, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(parent)?;
    let scratch = tempfile::Builder::new().prefix(".unpacking-").tempdir_in(parent)?;
    let mut packed = ZlibDecoder::new(PACKED);
    for (name, length) in FILES {
        let path = scratch.path().join(name);
        fs::create_dir_all(path.parent().unwrap_or(parent))?;
        let mut content = vec![0; *length];
        packed.read_exact(&mut content)?;
        fs::write(path, content)?;
    }
    for link in LINKS {
        symlink(LIBRARY, scratch.path().join("lib").join(link))?;
    }
    match fs::rename(scratch.path(), folder) {
        // Another oomph was faster; its folder has the same content.
        Err(_) if is_whole(folder) => Ok(()),
        // The folder has lost files.
        Err(_) if folder.is_dir() => fs::remove_dir_all(folder).and_then(|()| fs::rename(scratch.path(), folder)),
        renamed => renamed,
    }
}

/// Refuses a `noexec` file system, of which the dynamic loader only says "failed to map segment".
fn check_exec(folder: &Path) -> Result<(), Error> {
    let is_noexec = statvfs(folder).is_ok_and(|stat| stat.flags().contains(FsFlags::ST_NOEXEC));
    if is_noexec { Err(Error::from(SetupError::CacheNoExec(folder.to_owned()))) } else { Ok(()) }
}
