//! Folders of the user below folders of other users.
//!
//! # Note [Owners]
//!
//! A user namespace knows a single user and a single group. An overlay copies a changed file, and all folders above, to the upper
//! folder with the same owners, and fails for every further user and group (`EOVERFLOW`). Therefore the folders of the user get
//! separate overlays, at the topmost folder with nothing but the user's files: in `/data/users/ann/run`, say, `/data/users/ann`.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access, getgid, getuid};

/// The depth of the search for folders of the user below folders of other users.
const MOST_DEPTH: usize = 3;
/// The most searched entries.
const MOST_ENTRIES: usize = 5_000;
/// Folders of the system, without files of users.
const SYSTEM: [&str; 16] = [
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/lost+found",
    "/nix",
    "/proc",
    "/root",
    "/run",
    "/sbin",
    "/snap",
    "/sys",
    "/usr",
];

/// True if the user can change the folder, but a user namespace cannot copy the folder.
pub(crate) fn is_shared(folder: &Path) -> bool {
    let is_ours = fs::metadata(folder).is_ok_and(|metadata| is_the_users(&metadata));
    !is_ours && access(folder, AccessFlags::W_OK).is_ok()
}

fn is_the_users(metadata: &Metadata) -> bool {
    metadata.uid() == getuid().as_raw() && metadata.gid() == getgid().as_raw()
}

/// Lists the folders of the user that get an overlay: above the `known` folders, and found by a search.
pub(crate) fn find(known: &[PathBuf]) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = known.iter().filter_map(|folder| find_top(folder)).chain(search()).collect();
    folders.sort();
    folders.dedup();
    folders
}

/// The topmost of the user's folders in an unbroken chain down to `folder`; `None` if `folder` is not the user's.
fn find_top(folder: &Path) -> Option<PathBuf> {
    let ours = folder.ancestors().take_while(|path| fs::metadata(path).is_ok_and(|metadata| is_the_users(&metadata)));
    ours.last().map(Path::to_owned)
}

/// Lists folders of the user below folders of other users.
fn search() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut entries = 0;
    let mut level = vec![PathBuf::from("/")];
    for _ in 0..MOST_DEPTH {
        let mut next = Vec::new();
        for folder in &level {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                entries += 1;
                let (path, metadata) = (entry.path(), entry.metadata());
                let Ok(metadata) = metadata else { continue };
                if entries > MOST_ENTRIES {
                    return found;
                } else if !metadata.is_dir() || SYSTEM.iter().any(|system| path == Path::new(system)) {
                } else if is_the_users(&metadata) {
                    found.push(path);
                } else {
                    next.push(path);
                }
            }
        }
        level = next;
    }
    found
}
