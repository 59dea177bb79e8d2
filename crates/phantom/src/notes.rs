//! Notes of a program's acts, in files of the run directory: each ends with a NUL, and is one `write(2)` in append mode.

mod line;
mod path;

use std::ffi::{CStr, c_char, c_void};
use std::fmt::Write as _;

pub(crate) use line::Line;
pub(crate) use path::Path;

/// Longest path that the kernel accepts.
pub(crate) const PATH_BYTES: usize = libc::PATH_MAX as usize;
/// `OOMPH_RUN_DIR` as a C string.
const RUN_DIR: &CStr = c"OOMPH_RUN_DIR";

/// Appends a note to a file of the run directory, if the run is recorded. The program's `errno` is preserved.
pub(crate) fn note_in_run(file: &str, text: std::fmt::Arguments) {
    let Some(path) = find_in_run(file) else { return };
    // SAFETY: `errno` is the thread's own.
    let errno = unsafe { *libc::__errno_location() };
    let mut line = Line::default();
    // A note is far shorter than a line.
    let _ = line.write_fmt(text);
    line.end(path.bytes().as_ptr().cast());
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

/// The path of a file of the run directory, with a NUL; `None` in a process whose run is not recorded.
pub(crate) fn find_in_run(file: &str) -> Option<Line> {
    let folder = variable(RUN_DIR)?.to_bytes();
    let mut path = Line::default();
    if folder.len() + file.len() + 2 > PATH_BYTES {
        return None;
    }
    path.push(folder);
    path.push(b"/");
    path.push(file.as_bytes());
    path.push(b"\0");
    Some(path)
}

/// Looks a variable up. A program that changes the environment in another thread races with any reader.
pub(crate) fn variable(name: &CStr) -> Option<&'static CStr> {
    // SAFETY: the name is a C string; the environment holds C strings.
    unsafe {
        let value: *const c_char = libc::getenv(name.as_ptr());
        (!value.cast::<c_void>().is_null()).then(|| CStr::from_ptr(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_variable_is_that_of_the_contract() {
        assert_eq!(RUN_DIR.to_str(), Ok(wire::variable::RUN_DIR));
    }
}
