//! Source paths, as POSIX and Windows write them.

use std::borrow::Cow;

/// `file` with forward slashes.
pub(crate) fn posix(file: &str) -> Cow<'_, str> {
    if file.contains('\\') { Cow::Owned(file.replace('\\', "/")) } else { Cow::Borrowed(file) }
}

/// What follows the folder of the installed package `torch`: `optim/adam.py`.
pub(crate) fn in_torch(posix: &str) -> Option<&str> {
    let (_, rest) = posix.rsplit_once("/torch/")?;
    Some(rest)
}

/// `file` relative to `folder`, where it lies in it.
pub(crate) fn relative<'a>(file: &'a str, folder: &str) -> &'a str {
    let inside = file.strip_prefix(folder).filter(|_| !folder.is_empty());
    inside.and_then(|rest| rest.strip_prefix('/')).unwrap_or(file)
}
