//! Source paths in POSIX and Windows notation.

use std::borrow::Cow;

/// Returns `file` with forward slashes.
pub(crate) fn posix(file: &str) -> Cow<'_, str> {
    if file.contains('\\') { Cow::Owned(file.replace('\\', "/")) } else { Cow::Borrowed(file) }
}

/// Returns the path inside the installed package `torch`: `optim/adam.py`.
pub(crate) fn in_torch(posix: &str) -> Option<&str> {
    let (_, rest) = posix.rsplit_once("/torch/")?;
    Some(rest)
}
