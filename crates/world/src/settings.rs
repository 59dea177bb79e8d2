//! Files of the kernel that act on the machine: settings are read-only in a world, message queues are the world's own.

use std::path::Path;

use nix::mount::{MsFlags, mount};

use crate::mounts::{Mount, Mounts, NOTHING};
use crate::record::Uncovered;

/// Folders with settings of the machine, as container engines protect them: the superuser may write there without capabilities.
const SETTINGS: [&str; 6] = ["/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi"];
const DEVICES: &str = "/sys";
/// The options of the kernel's own file systems.
const OPTIONS: MsFlags = MsFlags::MS_NOSUID.union(MsFlags::MS_NODEV).union(MsFlags::MS_NOEXEC);

/// Protects the settings from the superuser (others cannot write them), and shows the queues of this process's namespace. Returns the refusals of the kernel.
pub(crate) fn protect(root: &Path, mounts: &Mounts, is_superuser: bool) -> Vec<Uncovered> {
    let settings = SETTINGS.iter().map(Path::new).filter(|path| is_superuser && path.exists());
    let devices = mounts.list().iter().filter(|mount| is_superuser && mount.place.starts_with(DEVICES));
    let queues = mounts.list().iter().filter(|mount| mount.kind == "mqueue");
    let settings = settings.map(|path| (path, bind(root, path).and_then(|()| make_read_only(root, path))));
    let devices = devices.map(|Mount { place, .. }| (place.as_path(), make_read_only(root, place)));
    let queues = queues.map(|Mount { place, .. }| (place.as_path(), show_queues(root, place)));
    let all = settings.chain(devices).chain(queues);
    all.filter_map(|(path, result)| {
        let reason = result.err()?.desc().to_owned();
        Some(Uncovered { path: path.to_owned(), reason })
    })
    .collect()
}

fn bind(root: &Path, path: &Path) -> nix::Result<()> {
    let target = target(root, path);
    mount(Some(&target), &target, NOTHING, MsFlags::MS_BIND, NOTHING)
}

fn make_read_only(root: &Path, path: &Path) -> nix::Result<()> {
    let flags = MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY | OPTIONS;
    mount(NOTHING, &target(root, path), NOTHING, flags, NOTHING)
}

fn show_queues(root: &Path, path: &Path) -> nix::Result<()> {
    mount(Some("mqueue"), &target(root, path), Some("mqueue"), OPTIONS, NOTHING)
}

fn target(root: &Path, path: &Path) -> std::path::PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}
