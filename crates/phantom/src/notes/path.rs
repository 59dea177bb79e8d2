//! An absolute path in a buffer of its own: noting must not allocate, since a signal handler may open files.

use std::ffi::{CStr, c_char, c_int};
use std::fmt::Write as _;

use wire::digest::{FNV_EMPTY, extend_fnv};

use super::PATH_BYTES;
use super::line::Line;
use crate::system_call;

/// An absolute path, without an allocation.
pub(crate) struct Path {
    bytes: [u8; 2 * PATH_BYTES],
    length: usize,
}

impl Path {
    /// Resolves the arguments of a C function; `None` if they name no path.
    pub(crate) fn of(folder: c_int, path: *const c_char) -> Option<Path> {
        if path.is_null() {
            return None;
        }
        // SAFETY: the pointer is not null, and the called C function asks for a string.
        let given = unsafe { CStr::from_ptr(path) }.to_bytes();
        if given.is_empty() || given.len() >= PATH_BYTES {
            return None;
        }
        let mut path = Path { bytes: [0; 2 * PATH_BYTES], length: 0 };
        if given[0] != b'/' {
            path.length = path.folder(folder)?;
            path.push(b"/");
        }
        path.push(given);
        Some(path)
    }

    /// Writes the folder of a relative path; returns its length.
    fn folder(&mut self, folder: c_int) -> Option<usize> {
        let buffer = self.bytes.as_mut_ptr();
        if folder == libc::AT_FDCWD {
            // SAFETY: the kernel writes at most so many bytes into the buffer; the length has the NUL in it.
            let length = unsafe { system_call::next()(libc::SYS_getcwd, buffer, PATH_BYTES) };
            return usize::try_from(length).ok()?.checked_sub(1);
        }
        let mut link = Line::default();
        // It is far shorter than a line.
        let _ = write!(link, "/proc/self/fd/{folder}\0");
        // SAFETY: the kernel writes at most so many bytes into the buffer; the link is a C string.
        let length = unsafe {
            system_call::next()(libc::SYS_readlinkat, libc::AT_FDCWD, link.bytes().as_ptr(), buffer, PATH_BYTES)
        };
        usize::try_from(length).ok()
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let end = (self.length + bytes.len()).min(self.bytes.len() - 1);
        self.bytes[self.length..end].copy_from_slice(&bytes[..end - self.length]);
        self.length = end;
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    pub(crate) fn hash(&self, kind: u8) -> u64 {
        extend_fnv(extend_fnv(FNV_EMPTY, &[kind]), self.bytes()).max(1)
    }

    /// Queries the state; `None` for an absent file.
    pub(crate) fn state(&self) -> Option<libc::stat> {
        let mut state = std::mem::MaybeUninit::<libc::stat>::uninit();
        // SAFETY: the path ends with a NUL, since its last byte is never written, and the kernel fills the structure.
        unsafe {
            let asked = system_call::next()(
                libc::SYS_newfstatat,
                libc::AT_FDCWD,
                self.bytes.as_ptr(),
                state.as_mut_ptr(),
                0 as c_int,
            );
            (asked == 0).then(|| state.assume_init())
        }
    }
}
