//! A record of the journal, written with one system call.
//!
//! A record is `NUL 01 KIND`, then eleven numbers and the paths, each with a NUL before it, then `NUL 02`. The birth comes behind the
//! last number, after a comma. No field starts
//! with a byte below a digit, so a record that was cut off ends where the next one starts.

use std::fmt::Write as _;
use std::io::IoSlice;

use super::kernel::{self, Answer, Stat};
use super::setup::Setup;
use super::table::{Fact, hash};

/// The kinds of records; `crates/world/src/undo` reads them.
#[derive(Clone, Copy)]
pub(super) enum JournalKind {
    /// A folder's times before a change in the folder.
    Folder = b'P' as isize,
    /// A folder for originals is made.
    Stash = b'K' as isize,
    /// A path comes to be.
    Made = b'M' as isize,
    /// A folder comes to be.
    MadeFolder = b'F' as isize,
    /// A second name of a file comes to be.
    Link = b'L' as isize,
    /// A file is in the stash from now on, by its inode: path, name in the stash.
    Stashed = b'S' as isize,
    /// A copy of a file is in the stash: path, name in the stash.
    Copied = b'C' as isize,
    /// A file is going to be longer.
    Appended = b'A' as isize,
    /// Mode, owner and times are changed.
    Attributes = b'T' as isize,
    /// An extended attribute is changed: path, name, value in hexadecimal after `=`, or `-`.
    Extended = b'X' as isize,
    /// A folder is removed.
    RemovedFolder = b'D' as isize,
    /// A path is renamed: from, to.
    Renamed = b'R' as isize,
    /// Two paths are exchanged.
    Exchanged = b'E' as isize,
    /// A change that the guard refused, or cannot see.
    Uncovered = b'U' as isize,
}

/// Room for the numbers of a record.
const HEAD_BYTES: usize = 320;
/// The most fields after the numbers.
const FIELDS: usize = 3;

struct Head {
    bytes: [u8; HEAD_BYTES],
    length: usize,
}

impl std::fmt::Write for Head {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let end = self.length + text.len();
        self.bytes.get_mut(self.length..end).ok_or(std::fmt::Error)?.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

/// Appends a record. The file is opened for each record: a program may close any file number.
pub(super) fn append(setup: &Setup, kind: JournalKind, stat: &Stat, fields: &[&[u8]]) -> Answer<()> {
    let is_made =
        stat.inode != 0 && setup.table.has(hash(Fact::Made, stat, fields.first().copied().unwrap_or_default()));
    let head = head(kind, stat, is_made).map_err(|_| libc::ENAMETOOLONG)?;
    let mut slices = [IoSlice::new(b""); 2 + 2 * FIELDS];
    slices[0] = IoSlice::new(&head.bytes[..head.length]);
    for (index, field) in fields.iter().take(FIELDS).enumerate() {
        slices[1 + 2 * index] = IoSlice::new(b"\0");
        slices[2 + 2 * index] = IoSlice::new(field);
    }
    slices[1 + 2 * FIELDS] = IoSlice::new(b"\0\x02");
    let length: usize = slices.iter().map(|slice| slice.len()).sum();
    let flags = libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT;
    let file = kernel::open(libc::AT_FDCWD, setup.journal.text(), flags, 0o600)?;
    if kernel::write_all(&file, &slices)? == length { Ok(()) } else { Err(libc::ENOSPC) }
}

fn head(kind: JournalKind, stat: &Stat, is_made: bool) -> Result<Head, std::fmt::Error> {
    let mut head = Head { bytes: [0; HEAD_BYTES], length: 0 };
    write!(head, "\0\x01{}", char::from(kind as u8))?;
    write!(head, "\0{}\0{}\0{}\0{}\0{}", stat.device, stat.inode, stat.mode, stat.owner, stat.group)?;
    for (seconds, nanoseconds) in [stat.accessed, stat.modified] {
        write!(head, "\0{seconds}\0{nanoseconds}")?;
    }
    write!(head, "\0{}\0{},{}", stat.size, u8::from(is_made), stat.born)?;
    Ok(head)
}
