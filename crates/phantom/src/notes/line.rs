//! A note in a buffer of its own, written with one system call.

use std::ffi::{c_char, c_int};

use super::PATH_BYTES;

/// A note as it is put together.
pub(crate) struct Line {
    bytes: [u8; 2 * PATH_BYTES + 256],
    length: usize,
}

impl Default for Line {
    fn default() -> Line {
        Line { bytes: [0; 2 * PATH_BYTES + 256], length: 0 }
    }
}

impl Line {
    /// The text so far.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let end = (self.length + bytes.len()).min(self.bytes.len() - 1);
        self.bytes[self.length..end].copy_from_slice(&bytes[..end - self.length]);
        self.length = end;
    }

    /// Writes the note and a NUL. The file is opened for each note: a program may close any file number.
    pub(crate) fn end(&self, taker: *const c_char) {
        let flags = libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT | libc::O_CLOEXEC;
        // SAFETY: the taker is a C string that is never freed; the bytes are ours, and the one after the text is a NUL.
        unsafe {
            let file = libc::syscall(libc::SYS_openat, libc::AT_FDCWD, taker, flags, 0o644 as c_int);
            if file >= 0 {
                libc::syscall(libc::SYS_write, file, self.bytes.as_ptr(), self.length + 1);
                libc::syscall(libc::SYS_close, file);
            }
        }
    }
}

impl std::fmt::Write for Line {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.push(text.as_bytes());
        Ok(())
    }
}
