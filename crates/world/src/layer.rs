//! Lays an overlay over every folder that may hold files of the user.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, chown, symlink};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::unistd::{AccessFlags, access};

use crate::mounts::{Mount, Mounts, NOTHING};
use crate::record::{Layer, Record, Uncovered};
use crate::scratch;
use crate::settings;
use crate::spec::Spec;

/// Options of an overlay for the superuser, the best first (Documentation/filesystems/overlayfs.rst, 6.18). With `redirect_dir` a
/// folder can be renamed, with `index` hard links stay together, without `xino` a file has the number of the file below, and `volatile`
/// saves the time of `fsync` (Linux 5.10).
const OPTIONS: [&str; 4] = [
    "xino=off,redirect_dir=on,index=on,volatile",
    "xino=off,redirect_dir=on,volatile",
    "xino=off,redirect_dir=on",
    "xino=off",
];
/// The same in a user namespace (from Linux 5.11).
const USER_OPTIONS: [&str; 2] = ["xino=off,userxattr,index=on,volatile", "xino=off,userxattr,volatile"];
/// The largest copied file of a split folder.
const MOST_COPIED_BYTES: u64 = 64 << 20;
/// Folders with sockets of daemons: an overlay breaks the connection.
const DAEMONS: [&str; 2] = ["/run", "/var/run"];

/// The layers of a world under construction.
pub(crate) struct Layers<'a> {
    spec: &'a Spec,
    /// The folder of the new root.
    root: PathBuf,
    mounts: Mounts,
    /// The folders of the user, in a user namespace.
    own: Option<Vec<PathBuf>>,
    record: Record,
    /// The number of the next layer: a refused mount leaves unusable folders.
    next: usize,
}

impl<'a> Layers<'a> {
    pub(crate) fn new(spec: &'a Spec, root: PathBuf, mounts: Mounts, own: Option<Vec<PathBuf>>) -> Layers<'a> {
        Layers { spec, root, mounts, own, record: Record::default(), next: 0 }
    }

    pub(crate) fn into_record(self) -> Record {
        self.record
    }

    /// Builds the whole tree.
    pub(crate) fn cover(&mut self) {
        self.split(Path::new("/"));
        for folder in self.own.clone().into_iter().flatten() {
            self.cover_own_folder(&folder);
        }
        for folder in &self.spec.through {
            if let Err(errno) = self.bind(folder) {
                self.leave(folder, &errno.to_string());
            }
        }
        for pipe in self.spec.folders.iter().flat_map(|folder| list_pipes(folder)) {
            self.show(&pipe);
        }
        for socket in list_sockets(&fs::read("/proc/net/unix").unwrap_or_default()) {
            self.show(&socket);
        }
        let is_superuser = self.own.is_none();
        self.record.uncovered.extend(settings::protect(&self.root, &self.mounts, is_superuser));
    }

    /// Lays an overlay over a folder of the user below folders of other users (Note [Owners] in `owners`).
    fn cover_own_folder(&mut self, folder: &Path) {
        let is_layer = self.record.layers.iter().any(|layer| layer.folder == folder);
        let is_shared = self.spec.scratches.iter().chain(&self.spec.through).any(|path| folder.starts_with(path));
        if !is_layer && !is_shared && self.target(folder).is_dir() {
            self.cover_folder(folder);
        }
    }

    /// A path in the new root.
    fn target(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    fn leave(&mut self, path: &Path, reason: &str) {
        self.record.uncovered.push(Uncovered { path: path.to_owned(), reason: reason.to_owned() });
    }

    /// Mounts the entries of a folder one by one.
    fn split(&mut self, folder: &Path) {
        let target = self.target(folder);
        if folder != Path::new("/")
            && let Err(errno) = mount(NOTHING, &target, Some("tmpfs"), MsFlags::empty(), Some("mode=755"))
        {
            return self.leave(folder, errno.desc());
        }
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => return self.leave(folder, &error.to_string()),
        };
        for path in entries.flatten().map(|entry| entry.path()) {
            if let Err(error) = self.place(&path) {
                self.leave(&path, &error.to_string());
            }
        }
    }

    /// Mounts an entry of a split folder.
    fn place(&mut self, path: &Path) -> io::Result<()> {
        let (target, metadata) = (self.target(path), fs::symlink_metadata(path)?);
        if metadata.is_symlink() {
            return symlink(fs::read_link(path)?, target);
        }
        if metadata.is_dir() {
            fs::create_dir(&target)?;
            fs::set_permissions(&target, metadata.permissions())?;
            self.cover_folder(path);
            return Ok(());
        }
        File::create(&target)?;
        let is_mount = self.mounts.find(path).is_some_and(|mount| mount.place == path);
        if metadata.is_file() && !is_mount && metadata.len() <= MOST_COPIED_BYTES && fs::copy(path, &target).is_ok() {
            return Ok(());
        }
        self.bind(path)?;
        if metadata.is_file() {
            make_read_only(&self.target(path))?;
        }
        Ok(())
    }

    /// Covers an existing folder of the new root.
    fn cover_folder(&mut self, folder: &Path) {
        let Some(mount) = self.mounts.find(folder).cloned() else { return };
        if DAEMONS.iter().any(|daemons| folder == Path::new(daemons)) || mount.is_kernels() || mount.is_read_only {
            self.share(folder, None);
            self.cover_mounts_below(folder);
            return;
        }
        match self.overlay(folder) {
            Ok(()) => self.show_mounts_below(folder),
            Err(Errno::EINVAL) if self.own.is_some() && !self.mounts.list_below(folder).is_empty() => {
                self.split(folder);
            }
            // A folder closed to the user is safe.
            Err(_) if access(folder, AccessFlags::X_OK).is_err() => self.share(folder, None),
            Err(errno) => self.share(folder, Some(format!("{}: {}", mount.kind, errno.desc()))),
        }
    }

    /// Mounts the real folder; `reason` if the folder holds files of the user.
    fn share(&mut self, folder: &Path, reason: Option<String>) {
        let bound = self.bind(folder).err().map(|errno| errno.to_string());
        for reason in reason.into_iter().chain(bound) {
            self.leave(folder, &reason);
        }
    }

    /// Covers writable mounts below a folder mounted with everything below.
    fn cover_mounts_below(&mut self, folder: &Path) {
        for mount in self.list_mounts_below(folder) {
            let is_the_users = !mount.is_kernels() && !mount.is_read_only && !mount.place.starts_with("/sys");
            if is_the_users && mount.place.is_dir() {
                self.cover_folder(&mount.place);
            } else {
                self.cover_mounts_below(&mount.place);
            }
        }
    }

    /// Mounts the mounts below a folder again: an overlay does not show mounts.
    fn show_mounts_below(&mut self, folder: &Path) {
        for mount in self.list_mounts_below(folder) {
            if mount.place.is_dir() {
                self.cover_folder(&mount.place);
            } else if let Err(errno) = self.bind(&mount.place) {
                self.leave(&mount.place, &errno.to_string());
            }
        }
    }

    fn list_mounts_below(&self, folder: &Path) -> Vec<Mount> {
        self.mounts.list_below(folder).into_iter().cloned().collect()
    }

    fn bind(&self, path: &Path) -> nix::Result<()> {
        self.bind_at(path, path)
    }

    /// Mounts `source` at `path`.
    fn bind_at(&self, source: &Path, path: &Path) -> nix::Result<()> {
        mount(Some(source), &self.target(path), NOTHING, MsFlags::MS_BIND | MsFlags::MS_REC, NOTHING)
    }

    /// Lays an overlay over a folder, with the changes in the first scratch folder accepted by the kernel. An empty folder needs only the
    /// folder for the changes, which is mounted faster.
    fn overlay(&mut self, folder: &Path) -> nix::Result<()> {
        let mut refusal = Errno::ENOENT;
        for scratch in self.spec.scratches.iter().filter(|scratch| !scratch.starts_with(folder)) {
            let number = self.next;
            self.next += 1;
            let upper = scratch.join(format!("upper{number}"));
            let laid = if is_empty(folder) && self.find_addition(folder).is_none() {
                make_upper(folder, &upper).and_then(|()| self.bind_at(&upper, folder))
            } else {
                self.overlay_at(folder, scratch, &upper, number)
            };
            match laid {
                Ok(()) => {
                    self.record.layers.push(Layer { folder: folder.to_owned(), upper });
                    return Ok(());
                }
                Err(errno) => refusal = errno,
            }
        }
        Err(refusal)
    }

    fn overlay_at(&self, folder: &Path, scratch: &Path, upper: &Path, number: usize) -> nix::Result<()> {
        let work = scratch.join(format!("work{number}"));
        make_upper(folder, upper)?;
        fs::create_dir_all(&work).map_err(to_errno)?;
        let addition =
            self.find_addition(folder).map(|tree| [escape(tree), b":".to_vec()].concat()).unwrap_or_default();
        let folders = [(&b""[..], folder), (b",upperdir=", upper), (b",workdir=", &work)];
        let folders = folders.iter().flat_map(|(key, path)| [key.to_vec(), escape(path)].concat());
        let folders: Vec<u8> = b"lowerdir=".iter().copied().chain(addition).chain(folders).collect();
        let options = if self.own.is_some() { &USER_OPTIONS[..] } else { &OPTIONS[..] };
        let mut refusal = Errno::EINVAL;
        for option in options {
            // The mark of a `volatile` overlay, not to be mounted again after a crash of the machine. The ranks of a job do so.
            scratch::remove(&work.join("work/incompat")).map_err(to_errno)?;
            let data = OsString::from_vec([&folders[..], b",", option.as_bytes()].concat());
            match mount(Some("oomph"), &self.target(folder), Some("overlay"), MsFlags::empty(), Some(data.as_os_str()))
            {
                Ok(()) => return Ok(()),
                Err(errno) => refusal = errno,
            }
        }
        Err(refusal)
    }

    /// Returns the tree to show on top of a folder.
    fn find_addition(&self, folder: &Path) -> Option<&Path> {
        self.spec.additions.iter().find(|addition| addition.folder == folder).map(|addition| addition.tree.as_path())
    }

    /// Mounts a socket or a named pipe: an overlay makes a new node, with nobody at the other end.
    fn show(&mut self, path: &Path) {
        let is_node = |path: &Path| {
            fs::symlink_metadata(path).is_ok_and(|it| it.file_type().is_socket() || it.file_type().is_fifo())
        };
        let is_layered = self.record.layers.iter().any(|layer| path.starts_with(&layer.folder));
        if is_layered && is_node(path) && is_node(&self.target(path)) {
            // A socket without a mount refuses connections, and the program reports the error.
            let _: nix::Result<()> = self.bind(path);
        }
    }
}

/// Makes the folder for the changes of a folder, with the same owner and mode: the root of an overlay has those of the upper folder.
fn make_upper(folder: &Path, upper: &Path) -> nix::Result<()> {
    let metadata = fs::metadata(folder).map_err(to_errno)?;
    fs::create_dir_all(upper).map_err(to_errno)?;
    // Only the superuser may change owners.
    let _: io::Result<()> = chown(upper, Some(metadata.uid()), Some(metadata.gid()));
    fs::set_permissions(upper, metadata.permissions()).map_err(to_errno)
}

/// True for a readable folder without entries.
fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

fn make_read_only(path: &Path) -> nix::Result<()> {
    let flags = MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY;
    mount(NOTHING, path, NOTHING, flags, NOTHING)
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn to_errno(error: io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::EIO, Errno::from_raw)
}

/// Escapes a path for the options of an overlay: an option ends at a comma, a lower folder at a colon.
fn escape(path: &Path) -> Vec<u8> {
    let special = |byte: &u8| matches!(byte, b'\\' | b',' | b':');
    let bytes = path.as_os_str().as_bytes().iter();
    bytes.flat_map(|byte| special(byte).then_some(b'\\').into_iter().chain([*byte])).collect()
}

/// Lists the named pipes of a folder.
fn list_pipes(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_fifo())).map(|entry| entry.path()).collect()
}

/// Lists the sockets with a path, from the text of `/proc/net/unix`: the eighth field.
fn list_sockets(text: &[u8]) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = text
        .split(|byte| *byte == b'\n')
        .filter_map(|line| line.iter().position(|byte| *byte == b'/').map(|start| line[start..].to_vec()))
        .map(|path| PathBuf::from(OsString::from_vec(path)))
        .collect();
    paths.sort();
    paths.dedup();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_characters_of_options_are_escaped() {
        assert_eq!(escape(Path::new("/a b,c:d\\e")), b"/a b\\,c\\:d\\\\e");
    }

    #[test]
    fn sockets_with_a_path_are_listed_once() {
        let text = b"Num       RefCount Protocol Flags    Type St Inode Path\n\
            0: 00000002 00000000 00010000 0001 01 1 /run/a b\n\
            1: 00000002 00000000 00010000 0001 01 2 @abstract\n\
            2: 00000003 00000000 00000000 0001 03 3\n\
            3: 00000002 00000000 00010000 0001 01 4 /run/a b\n";
        assert_eq!(list_sockets(text), [PathBuf::from("/run/a b")]);
    }
}
