//! Enters a world: namespaces, layers, a new root.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{Gid, Uid, chdir, chroot, getgid, getuid, pivot_root};

use crate::confine;
use crate::inputs;
use crate::layer::Layers;
use crate::loopback;
use crate::mounts::{Mounts, NOTHING};
use crate::owners;
use crate::record::Record;
use crate::spec::Spec;

/// The old root, inside the new root, until the unmount.
const OLD_ROOT: &str = ".oomph-old-root";

/// A refusal of the kernel.
#[derive(Debug, thiserror::Error)]
#[error("{action}: {source}")]
pub struct EnterError {
    action: String,
    source: io::Error,
}

impl EnterError {
    /// A conversion of an error of `action`.
    pub(crate) fn at<E: Into<io::Error>>(action: impl Into<String>) -> impl FnOnce(E) -> EnterError {
        move |error| EnterError { action: action.into(), source: error.into() }
    }
}

/// The result of [`enter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entered {
    /// The process has a file system of its own, and is confined.
    Layers,
    /// The process is confined, as a specification without layers asks.
    Confined,
    /// The kernel refused the namespaces, and nothing changed.
    Refused,
}

/// Moves this process into a world, and writes the [`Record`]. The process must have a single thread. After an error the process is between
/// the worlds, and must end.
pub fn enter(spec: &Spec) -> Result<Entered, EnterError> {
    let kept = confine::find_kept().map_err(EnterError::at("capabilities"))?;
    let layers = if spec.has_layers { enter_layers(spec)? } else { Some(Record::default()) };
    let Some(record) = layers else { return Ok(Entered::Refused) };
    inputs::open_again(&spec.inputs, spec.has_layers);
    let is_apart = confine::confine(kept).map_err(EnterError::at("capabilities"))?;
    write(spec, &Record { is_apart, ..record })?;
    Ok(if spec.has_layers { Entered::Layers } else { Entered::Confined })
}

/// Makes the namespaces and the new root; `None` if the kernel refuses.
fn enter_layers(spec: &Spec) -> Result<Option<Record>, EnterError> {
    let folder = std::env::current_dir().map_err(EnterError::at("current folder"))?;
    let (user, group) = (getuid(), getgid());
    let own = match separate(spec.is_offline, &folder, &spec.folders) {
        Ok(own) => own,
        Err(refusal) => {
            write_refusal(spec, &refusal)?;
            return Ok(None);
        }
    };
    if own.is_some() {
        let mapped = map_ids(user, group).map_err(EnterError::at("no mapping of the user"));
        mapped.inspect_err(|refusal| drop(write_refusal(spec, refusal)))?;
    }
    let mut layers = prepare(spec, own).inspect_err(|refusal| drop(write_refusal(spec, refusal)))?;
    layers.cover();
    let record = Record { is_entered: true, ..layers.into_record() };
    write(spec, &record)?;
    change_root(&root(spec), &folder)?;
    Ok(Some(record))
}

/// The folder of the new root.
fn root(spec: &Spec) -> PathBuf {
    spec.scratches.first().map_or_else(|| PathBuf::from("/"), |scratch| scratch.join("root"))
}

fn write(spec: &Spec, record: &Record) -> Result<(), EnterError> {
    let written = File::create(&spec.record).and_then(|mut file| file.write_all(&record.to_bytes()));
    written.map_err(EnterError::at(format!("write {}", spec.record.display())))
}

/// Makes the namespaces. Returns the folders of the user (Note [Owners] in `owners`) where a user namespace was necessary; `None` for the
/// superuser.
fn separate(is_offline: bool, folder: &Path, known: &[PathBuf]) -> Result<Option<Vec<PathBuf>>, EnterError> {
    let network = if is_offline { CloneFlags::CLONE_NEWNET } else { CloneFlags::empty() };
    let files = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWIPC | network;
    match unshare(files) {
        Ok(()) => Ok(None),
        Err(Errno::EPERM) if owners::is_shared(folder) => {
            Err(EnterError::at("the current folder belongs to another user or group")(Errno::EPERM))
        }
        Err(Errno::EPERM) => {
            // In the namespace, all other owners look alike.
            let own = owners::find(known);
            unshare(CloneFlags::CLONE_NEWUSER | files).map_err(EnterError::at("no user namespace"))?;
            Ok(Some(own))
        }
        Err(errno) => Err(EnterError::at("no mount namespace")(errno)),
    }
}

/// Keeps the user's name and group (user_namespaces(7)).
fn map_ids(user: Uid, group: Gid) -> io::Result<()> {
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

fn write_refusal(spec: &Spec, refusal: &EnterError) -> Result<(), EnterError> {
    write(spec, &Record { refusal: Some(refusal.to_string()), ..Record::default() })
}

/// Mounts the new root. Mounts of this namespace do not reach the namespaces of other processes.
fn prepare(spec: &Spec, own: Option<Vec<PathBuf>>) -> Result<Layers<'_>, EnterError> {
    if spec.is_offline {
        loopback::bring_up().map_err(EnterError::at("loop-back"))?;
    }
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(NOTHING, "/", NOTHING, private, NOTHING).map_err(EnterError::at("private mounts"))?;
    let mounts = fs::read("/proc/self/mountinfo").map_err(EnterError::at("list of mounts"))?;
    let root = root(spec);
    fs::create_dir_all(&root).map_err(EnterError::at("new root"))?;
    mount(NOTHING, &root, Some("tmpfs"), MsFlags::empty(), Some("mode=755")).map_err(EnterError::at("new root"))?;
    Ok(Layers::new(spec, root, Mounts::read(&mounts), own))
}

fn change_root(root: &Path, folder: &Path) -> Result<(), EnterError> {
    let old = root.join(OLD_ROOT);
    fs::create_dir_all(&old).map_err(EnterError::at("old root"))?;
    let is_pivoted = pivot_root(root, &old).is_ok();
    if !is_pivoted {
        // The root of an initial RAM disk cannot be moved.
        chroot(root).map_err(EnterError::at("new root"))?;
    }
    chdir("/").map_err(EnterError::at("new root"))?;
    let old = Path::new("/").join(OLD_ROOT);
    if is_pivoted {
        umount2(&old, MntFlags::MNT_DETACH).map_err(EnterError::at("old root"))?;
    }
    fs::remove_dir(&old).map_err(EnterError::at("old root"))?;
    chdir(folder).map_err(EnterError::at(format!("folder {}", folder.display())))
}
