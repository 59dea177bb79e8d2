//! Files of Windows.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use same_file::Handle;

/// Names a kind other than a file or a pipe; `None` for both.
pub(crate) fn name_other_kind(found: &Metadata) -> Option<&'static str> {
    found.is_dir().then_some("a folder")
}

/// Pipes of Windows have no place among files.
pub(crate) fn is_pipe(_found: &Metadata) -> bool {
    false
}

/// True for the file that standard output goes to.
pub(crate) fn takes_output(path: &Path) -> bool {
    let (Ok(output), Ok(file)) = (Handle::stdout(), Handle::from_path(path)) else { return false };
    output == file
}

/// The standard library does not state the number of names.
pub(crate) fn has_other_names(_found: &Metadata) -> bool {
    false
}

/// A new file has the owner of its process.
pub(crate) fn keep_owner(_file: &File, _replaced: &Metadata) {}

/// A new file has the permissions of its folder.
pub(crate) fn set_usual_permissions(_temporary: &mut tempfile::Builder<'_, '_>) {}

/// The path of a decoded `file:` URI: `/C:/train.py` is `C:/train.py`.
pub(crate) fn decode_path(path: &[u8]) -> PathBuf {
    let text = String::from_utf8_lossy(path);
    let has_drive = text.as_bytes().get(2) == Some(&b':');
    PathBuf::from(if has_drive { &text[1..] } else { &text })
}

/// The path as reports name it: with slashes, as URIs and GitHub's annotations want it.
pub(crate) fn spell_path(path: &Path) -> String {
    without_prefix(&path.display().to_string()).replace('\\', "/")
}

/// The real path, as users write it.
pub(crate) fn resolve(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize().map(|real| PathBuf::from(without_prefix(&real.display().to_string())))
}

/// Removes the prefix of canonical paths, which no user writes: `\\?\C:\a`, `\\?\UNC\server\a`.
fn without_prefix(path: &str) -> String {
    match path.strip_prefix(r"\\?\UNC") {
        Some(rest) => format!(r"\{rest}"),
        None => path.strip_prefix(r"\\?\").unwrap_or(path).to_owned(),
    }
}
