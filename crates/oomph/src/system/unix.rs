//! Files of Linux and macOS.

use std::ffi::OsStr;
use std::fs::{self, File, FileType, Metadata, Permissions};
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

/// The number of `/dev/null`, an empty file to every reader.
const NULL: u64 = if cfg!(target_os = "macos") { 0x0300_0002 } else { 0x103 };
/// The place of the class in the number of a device.
const CLASS_BIT: u32 = if cfg!(target_os = "macos") { 24 } else { 8 };
/// The classes of terminals (Documentation/admin-guide/devices.txt of Linux; `ls -l /dev/tty*` of macOS 14).
const TERMINALS: &[std::ops::RangeInclusive<u64>] =
    if cfg!(target_os = "macos") { &[2..=4, 16..=16] } else { &[2..=5, 136..=143, 204..=207] };

/// Names a kind other than a file or a pipe; `None` for both.
pub(crate) fn name_other_kind(found: &Metadata) -> Option<&'static str> {
    let kind = found.file_type();
    if found.is_dir() {
        Some("a folder")
    } else if kind.is_block_device() {
        Some("a disk")
    } else if kind.is_socket() {
        Some("a socket")
    } else {
        is_endless(kind, found.rdev()).then_some("a device")
    }
}

/// True for all devices but terminals and `/dev/null`: a person ends a terminal's input.
fn is_endless(kind: FileType, device: u64) -> bool {
    let class = (device >> CLASS_BIT) & 0xfff;
    kind.is_char_device() && device != NULL && !TERMINALS.iter().any(|classes| classes.contains(&class))
}

/// True for a pipe with a name.
pub(crate) fn is_pipe(found: &Metadata) -> bool {
    found.file_type().is_fifo()
}

/// True for the file that standard output goes to. The file is not opened: the other end of a pipe may not be there.
pub(crate) fn takes_output(path: &Path) -> bool {
    let output = io::stdout().as_fd().try_clone_to_owned().and_then(|output| File::from(output).metadata());
    let Ok(output) = output else { return false };
    let place = |found: &Metadata| (found.dev(), found.ino());
    output.is_file() && fs::metadata(path).is_ok_and(|found| place(&found) == place(&output))
}

/// True for a file with several names, which a renamed file would part.
pub(crate) fn has_other_names(found: &Metadata) -> bool {
    found.nlink() > 1
}

/// Sets the owner of a new file to that of the replaced one. Only root may; others become the owner, as with any editor.
pub(crate) fn keep_owner(file: &File, replaced: &Metadata) {
    let _ = fchown(file, Some(replaced.uid()), Some(replaced.gid()));
}

/// Sets the permissions of any new file: by default temporary files are private.
pub(crate) fn set_usual_permissions(temporary: &mut tempfile::Builder<'_, '_>) {
    temporary.permissions(Permissions::from_mode(0o666));
}

/// The path of a decoded `file:` URI, which starts with a slash.
pub(crate) fn decode_path(path: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(path))
}

/// The path as reports name it.
pub(crate) fn spell_path(path: &Path) -> String {
    path.display().to_string()
}

/// The real path.
pub(crate) fn resolve(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}
