//! Files of the agent's: lines are appended, and a dump is written, without a descriptor in between.
//!
//! # Note [No descriptor]
//! A program may close every descriptor of its process (`os.closerange`), and the number that was the agent's is then a file of the program's. So a
//! file is opened by its path for each write, compared with the file that was created, and closed again, in one call. The
//! agent holds the interpreter's lock during the call: no thread of Python's closes or opens a file meanwhile. A path that is out of reach (`chroot`, another user, a limit, a full
//! disk) is an error of the system; the agent then writes to the reserve of the mapped recording, which needs no path. So it does in a program that
//! entered a sandbox after the start: a filter of system calls may answer an open file with the end of the process. A filter that was there at the start, as in
//! most containers, hides a later one.

use std::ffi::{CStr, OsStr};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering};

use crate::room::is_within_limit;

/// The identity of a file, by which another file of the same name is known.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileIdentity {
    /// `st_dev`.
    pub device: u64,
    /// `st_ino`.
    pub inode: u64,
}

/// The mode of seccomp(2) at the last `create`: 0 without a filter.
static SANDBOX: AtomicI32 = AtomicI32::new(0);

/// Fails in a sandbox that was entered after the start.
fn refuse_in_sandbox() -> io::Result<()> {
    if find_sandbox() > SANDBOX.load(Ordering::Relaxed) {
        return Err(io::Error::from_raw_os_error(libc::EPERM));
    }
    Ok(())
}

fn find_sandbox() -> i32 {
    // SAFETY: the call reads a number of this thread.
    unsafe { libc::prctl(libc::PR_GET_SECCOMP) }
}

/// Creates a file with a first line. An existing file is an error.
pub(crate) fn create(path: &Path, line: &[u8]) -> io::Result<FileIdentity> {
    SANDBOX.store(find_sandbox(), Ordering::Relaxed);
    let file = OpenOptions::new().append(true).create_new(true).mode(0o644).open(path)?;
    append_line(&file, line)?;
    identify(&file)
}

/// Appends a line to the file of an earlier `create`.
pub(crate) fn append(path: &Path, identity: FileIdentity, line: &[u8]) -> io::Result<()> {
    refuse_in_sandbox()?;
    // A pipe in the place of the file would be waited for.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = OpenOptions::new().append(true).custom_flags(flags).open(path)?;
    if identify(&file)? != identity {
        return Err(io::Error::from_raw_os_error(libc::ESTALE));
    }
    append_line(&file, line)
}

/// Writes a file whole, or leaves the one before.
pub(crate) fn save(path: &Path, content: &[u8]) -> io::Result<()> {
    refuse_in_sandbox()?;
    let unfinished = path.with_extension("tmp");
    // Left by a process that was killed.
    let _ = fs::remove_file(&unfinished);
    let written = OpenOptions::new().append(true).create_new(true).mode(0o644).open(&unfinished);
    let saved = written.and_then(|file| append_line(&file, content)).and_then(|()| fs::rename(&unfinished, path));
    saved.inspect_err(|_| {
        let _ = fs::remove_file(&unfinished);
    })
}

/// Writes a whole line or nothing: lines behind a cut line could not be read.
fn append_line(mut file: &File, line: &[u8]) -> io::Result<()> {
    let before = file.metadata()?.len();
    if !is_within_limit(before.saturating_add(line.len() as u64)) {
        return Err(io::Error::from_raw_os_error(libc::EFBIG));
    }
    file.write_all(line).inspect_err(|_| {
        let _ = file.set_len(before);
    })
}

fn identify(file: &File) -> io::Result<FileIdentity> {
    let found = file.metadata()?;
    Ok(FileIdentity { device: found.dev(), inode: found.ino() })
}

/// The number of the system's error; 0 for none.
pub(crate) fn number_of<T>(result: &io::Result<T>) -> i32 {
    result.as_ref().err().map_or(0, |error| error.raw_os_error().unwrap_or(libc::EIO))
}

/// The path of a C string.
pub(crate) fn path_of(path: &CStr) -> &Path {
    Path::new(OsStr::from_bytes(path.to_bytes()))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    #[test]
    fn lines_follow_each_other_in_the_file_that_was_created() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rank0.marks.jsonl");
        let identity = create(&path, b"one\n").unwrap();
        append(&path, identity, b"two\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one\ntwo\n");
        assert_eq!(number_of(&create(&path, b"other\n")), libc::EEXIST);
    }

    /// Puts another file in the place of the agent's; `theirs` is the program's.
    type Replace = fn(path: &Path, theirs: &Path);

    #[test]
    fn no_other_file_of_the_name_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let (path, theirs) = (folder.path().join("rank0.marks.jsonl"), folder.path().join("theirs"));
        let identity = create(&path, b"one\n").unwrap();
        // The first file stays, so that the second has another number.
        fs::rename(&path, folder.path().join("moved")).unwrap();
        fs::write(&theirs, b"theirs").unwrap();
        let replacements: [(Replace, i32); 3] = [
            (|path, theirs| fs::copy(theirs, path).map(drop).unwrap(), libc::ESTALE),
            (|path, theirs| std::os::unix::fs::symlink(theirs, path).unwrap(), libc::ELOOP),
            (
                |path, _| assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success()),
                libc::ENXIO,
            ),
        ];
        for (replace, error) in replacements {
            replace(&path, &theirs);
            assert_eq!(number_of(&append(&path, identity, b"two\n")), error);
            fs::remove_file(&path).unwrap();
        }
        assert_eq!(number_of(&append(&path, identity, b"two\n")), libc::ENOENT);
        assert_eq!(fs::read(&theirs).unwrap(), b"theirs");
    }

    #[test]
    fn a_dump_is_whole_or_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rank0.snapshot.pickle");
        save(&path, b"first").unwrap();
        save(&path, b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(number_of(&save(&folder.path().join("missing/a.pickle"), b"")), libc::ENOENT);
    }
}
