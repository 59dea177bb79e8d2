//! The path of a file without links, in a buffer of its own: nothing here allocates.

use std::ffi::{CStr, c_char, c_int};
use std::fmt::Write as _;

use super::kernel::{self, Answer, Descriptor, Stat};

/// Longest path that the kernel accepts, with its NUL.
const PATH_BYTES: usize = libc::PATH_MAX as usize;
/// Links to absent files that are followed.
const LINKS: usize = 4;

/// An absolute path without links, `.` and `..`; only the last name may be a link.
pub(crate) struct Place {
    bytes: [u8; PATH_BYTES],
    length: usize,
}

impl Place {
    /// Joins parts; an error if the path is too long.
    pub(super) fn join(parts: &[&[u8]]) -> Answer<Place> {
        let mut place = Place { bytes: [0; PATH_BYTES], length: 0 };
        parts.iter().try_for_each(|part| place.push(part))?;
        Ok(place)
    }

    /// Resolves the arguments of a C function. `None`: the path leads nowhere, and the function fails by itself.
    pub(super) fn of(folder: c_int, path: *const c_char, follows: bool) -> Answer<Option<Place>> {
        if path.is_null() {
            return Ok(None);
        }
        // SAFETY: the pointer is not null, and the called C function asks for a string.
        let given = unsafe { CStr::from_ptr(path) };
        Place::resolve(folder, given, follows, LINKS)
    }

    fn resolve(folder: c_int, given: &CStr, follows: bool, links: usize) -> Answer<Option<Place>> {
        let bytes = given.to_bytes();
        if bytes.is_empty() || bytes.len() >= PATH_BYTES {
            return Ok(None);
        }
        let end = bytes.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
        let start = bytes[..end].iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
        let name = &bytes[start..end];
        if follows || name.is_empty() || name == b"." || name == b".." {
            match opened(kernel::open(folder, given, libc::O_PATH, 0))? {
                Some(file) => return Place::of_descriptor(file.0).map(Some),
                None if !follows => return Ok(None),
                None => {}
            }
        }
        let Some(mut place) = Place::of_folder(folder, &bytes[..start])? else { return Ok(None) };
        if place.length > 1 {
            place.push(b"/")?;
        }
        place.push(name)?;
        if follows { place.follow(links) } else { Ok(Some(place)) }
    }

    /// The target of a link to an absent file; any other path as it is.
    fn follow(self, links: usize) -> Answer<Option<Place>> {
        let mut target = Place { bytes: [0; PATH_BYTES], length: 0 };
        match kernel::read_link(self.text(), &mut target.bytes[..PATH_BYTES - 1]) {
            Err(_) => Ok(Some(self)),
            Ok(_) if links == 0 => Err(libc::ELOOP),
            Ok(_) => {
                let Some(parent) = opened(self.open_parent())? else { return Ok(None) };
                Place::resolve(parent.0, target.text(), true, links - 1)
            }
        }
    }

    /// Resolves a folder as the program wrote it; empty is `folder` itself.
    fn of_folder(folder: c_int, path: &[u8]) -> Answer<Option<Place>> {
        let text = Place::join(&[if path.is_empty() { b"." } else { path }])?;
        match opened(kernel::open(folder, text.text(), libc::O_PATH | libc::O_DIRECTORY, 0))? {
            Some(file) => Place::of_descriptor(file.0).map(Some),
            None => Ok(None),
        }
    }

    /// The path of an open file, from the kernel.
    pub(super) fn of_descriptor(file: c_int) -> Answer<Place> {
        let mut link = Place::join(&[b"/proc/self/fd/"])?;
        write!(link, "{file}").map_err(|_| libc::ENAMETOOLONG)?;
        let mut place = Place { bytes: [0; PATH_BYTES], length: 0 };
        place.length = kernel::read_link(link.text(), &mut place.bytes[..PATH_BYTES - 1])?;
        if place.bytes().first() == Some(&b'/') { Ok(place) } else { Err(libc::ENOENT) }
    }

    fn push(&mut self, part: &[u8]) -> Answer<()> {
        let end = self.length + part.len();
        // The last byte stays a NUL.
        let room = self.bytes[..PATH_BYTES - 1].get_mut(self.length..end).ok_or(libc::ENAMETOOLONG)?;
        room.copy_from_slice(part);
        self.length = end;
        Ok(())
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    pub(super) fn text(&self) -> &CStr {
        // There is a NUL: the last byte is never written.
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or(c"")
    }

    /// The folder of the last name.
    pub(super) fn parent(&self) -> &[u8] {
        match self.bytes().iter().rposition(|byte| *byte == b'/') {
            Some(0) | None => b"/",
            Some(slash) => &self.bytes()[..slash],
        }
    }

    pub(super) fn open_parent(&self) -> Answer<Descriptor> {
        let parent = Place::join(&[self.parent()])?;
        kernel::open(libc::AT_FDCWD, parent.text(), libc::O_PATH | libc::O_DIRECTORY, 0)
    }

    /// The state, without following a link; `None` for an absent file.
    pub(super) fn stat(&self) -> Answer<Option<Stat>> {
        opened(kernel::stat(self.text()))
    }
}

impl std::fmt::Write for Place {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.push(text.as_bytes()).map_err(|_| std::fmt::Error)
    }
}

/// `None` for errors that the program's own call meets as well.
fn opened<T>(answer: Answer<T>) -> Answer<Option<T>> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(libc::ENOENT | libc::ENOTDIR | libc::ELOOP | libc::EACCES | libc::ENAMETOOLONG) => Ok(None),
        Err(number) => Err(number),
    }
}

/// True if `path` is `folder` or lies below.
pub(super) fn is_below(path: &[u8], folder: &[u8]) -> bool {
    let folder = folder.strip_suffix(b"/").unwrap_or(folder);
    path.strip_prefix(folder).is_some_and(|rest| rest.first().is_none_or(|byte| *byte == b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_holds_whole_names_only() {
        for (path, folder, expected) in [
            ("/a/b", "/a", true),
            ("/a", "/a", true),
            ("/a/b", "/a/", true),
            ("/ab", "/a", false),
            ("/a", "/a/b", false),
            ("/a", "/", true),
        ] {
            assert_eq!(is_below(path.as_bytes(), folder.as_bytes()), expected, "{path} {folder}");
        }
    }
}
