//! The mounts of this process, read from `/proc/self/mountinfo` (proc_pid_mountinfo(5)).

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

/// No data, or no source, for `mount`.
pub(crate) const NOTHING: Option<&str> = None;
/// File systems of the kernel, of clusters and of daemons, without files of the user.
const KERNELS: [&str; 24] = [
    "autofs",
    "binfmt_misc",
    "bpf",
    "cgroup",
    "cgroup2",
    "configfs",
    "debugfs",
    "devpts",
    "devtmpfs",
    "efivarfs",
    "fusectl",
    "hugetlbfs",
    "mqueue",
    "nsfs",
    "proc",
    "pstore",
    "ramfs",
    "rpc_pipefs",
    "securityfs",
    "selinuxfs",
    "squashfs",
    "sysfs",
    "tracefs",
    "fuse.lxcfs",
];

/// A line of `/proc/self/mountinfo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    id: u32,
    parent: u32,
    pub(crate) place: PathBuf,
    /// The type of the file system, such as `ext4`.
    pub(crate) kind: String,
    pub(crate) is_read_only: bool,
}

impl Mount {
    /// True for a file system without files of the user.
    pub(crate) fn is_kernels(&self) -> bool {
        KERNELS.contains(&self.kind.as_str())
    }
}

/// The visible mounts, sorted by path.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mounts(Vec<Mount>);

impl Mounts {
    /// Reads the file's text, with lines in any order.
    pub(crate) fn read(text: &[u8]) -> Mounts {
        let all: Vec<Mount> = text.split(|byte| *byte == b'\n').filter_map(parse).collect();
        let mut visible: Vec<Mount> = all.iter().filter(|mount| is_visible(&all, mount)).cloned().collect();
        visible.sort_by(|one, other| one.place.cmp(&other.place));
        Mounts(visible)
    }

    /// Returns the mount of a path.
    pub(crate) fn find(&self, path: &Path) -> Option<&Mount> {
        self.0.iter().filter(|mount| path.starts_with(&mount.place)).max_by_key(|mount| mount.place.as_os_str().len())
    }

    /// Lists all visible mounts, a folder before the folders below.
    pub(crate) fn list(&self) -> &[Mount] {
        &self.0
    }

    /// Lists the topmost mounts strictly below a folder.
    pub(crate) fn list_below(&self, folder: &Path) -> Vec<&Mount> {
        let mut found: Vec<&Mount> = Vec::new();
        for mount in self.0.iter().filter(|mount| mount.place != folder && mount.place.starts_with(folder)) {
            if !found.iter().any(|upper| mount.place.starts_with(&upper.place)) {
                found.push(mount);
            }
        }
        found
    }
}

/// True if no mount is on top of a mount, or of a folder above.
fn is_visible(all: &[Mount], mount: &Mount) -> bool {
    let is_below_another = all.iter().any(|other| other.parent == mount.id && other.place == mount.place);
    !is_below_another && is_reached(all, mount)
}

/// True if the place of a mount is not covered by a later mount on the same parent.
fn is_reached(all: &[Mount], mount: &Mount) -> bool {
    let covers = |other: &Mount| other.parent == mount.parent && mount.place.starts_with(&other.place);
    let Some(parent) = all.iter().find(|other| other.id == mount.parent && other.id != mount.id) else { return true };
    !all.iter().any(|other| other.id != mount.id && covers(other)) && is_reached(all, parent)
}

/// Reads a line: `36 35 98:0 /root /place options optional… - kind source options`.
fn parse(line: &[u8]) -> Option<Mount> {
    let fields: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    let number = |field: usize| std::str::from_utf8(fields.get(field)?).ok()?.parse().ok();
    let (id, parent, place, options) = (number(0)?, number(1)?, fields.get(4)?, fields.get(5)?);
    let dash = fields.iter().position(|field| *field == b"-")?;
    let kind = String::from_utf8_lossy(fields.get(dash + 1)?).into_owned();
    let super_options = fields.get(dash + 3).copied().unwrap_or_default();
    let is_read_only =
        [*options, super_options].iter().any(|list| list.split(|byte| *byte == b',').any(|it| it == b"ro"));
    Some(Mount { id, parent, place: PathBuf::from(OsString::from_vec(unescape(place))), kind, is_read_only })
}

/// Replaces the kernel's escapes: a backslash and three octal digits.
fn unescape(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let digits =
            after.get(..3).filter(|digits| *first == b'\\' && digits.iter().all(|it| (b'0'..=b'7').contains(it)));
        if let Some(digits) = digits {
            bytes.push(digits.iter().fold(0_u8, |byte, digit| byte << 3 | (digit - b'0')));
            rest = &after[3..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    bytes
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"\
22 27 0:21 / /proc rw,relatime - proc proc rw
25 24 0:23 / /dev/shm rw,relatime - ramfs ramfs rw
24 27 0:6 / /dev rw,relatime - devtmpfs devtmpfs rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
39 27 0:41 / /mnt/my\\040data/hidden rw - tmpfs tmpfs rw
40 27 0:40 / /mnt/my\\040data rw shared:7 master:1 - nfs4 host:/x ro,vers=4
41 40 0:41 / /mnt/my\\040data/in rw - tmpfs tmpfs rw
30 25 0:27 / /dev/shm rw,relatime - tmpfs tmpfs rw
";

    #[test]
    fn mounts_are_found_by_path() {
        let mounts = Mounts::read(TEXT);
        let cases = [
            ("/home/a", "ext4", false),
            ("/dev/null", "devtmpfs", false),
            ("/dev/shm/a", "tmpfs", false),
            ("/mnt/my data/x", "nfs4", true),
        ];
        for (path, kind, is_read_only) in cases {
            let mount = mounts.find(Path::new(path)).unwrap();
            assert_eq!((mount.kind.as_str(), mount.is_read_only), (kind, is_read_only), "{path}");
        }
        let below = |folder: &str| {
            let found = mounts.list_below(Path::new(folder));
            found.iter().map(|mount| mount.place.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(below("/mnt"), ["/mnt/my data"]);
        assert_eq!(below("/mnt/my data"), ["/mnt/my data/in"]);
        assert_eq!(below("/dev/shm"), [""; 0]);
        assert_eq!(below("/"), ["/dev", "/mnt/my data", "/proc"]);
    }
}
