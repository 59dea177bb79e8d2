//! Files of Windows.

use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};

/// Names a kind other than a file or a pipe; `None` for both.
pub(crate) fn name_other_kind(found: &Metadata) -> Option<&'static str> {
    found.is_dir().then_some("a folder")
}

/// Pipes of Windows have no place among files.
pub(crate) fn is_pipe(_found: &Metadata) -> bool {
    false
}

/// The standard library does not state the number of names.
pub(crate) fn has_other_names(_found: &Metadata) -> bool {
    false
}

/// A new file has the owner of its process.
pub(crate) fn keep_owner(_file: &File, _replaced: &Metadata) {}

/// A new file has the permissions of its folder.
pub(crate) fn share(_temporary: &mut tempfile::Builder<'_, '_>) {}

/// The path of a decoded `file:` URI: `/C:/train.py` is `C:/train.py`.
pub(crate) fn decode_path(path: Vec<u8>) -> PathBuf {
    let text = String::from_utf8_lossy(&path).into_owned();
    let has_drive = text.as_bytes().get(2) == Some(&b':');
    PathBuf::from(if has_drive { &text[1..] } else { &text })
}

/// The path as reports name it: with slashes, as URIs and GitHub's annotations want it, and without the prefix of a canonical path.
pub(crate) fn spell(path: &Path) -> String {
    let text = path.display().to_string();
    text.strip_prefix(r"\\?\").unwrap_or(&text).replace('\\', "/")
}
