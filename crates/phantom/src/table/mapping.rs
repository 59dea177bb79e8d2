//! The table's file in the memory of this process.

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use wire::table::{BYTES, NAMESPACE, NAMESPACE_WORD, SEPARATOR, WORDS};
use wire::variable;

use super::{Table, liveness};

static TABLE: OnceLock<Option<Table<'static>>> = OnceLock::new();

/// The table that the environment names, mapped at the first call; `None` without a table, and for a damaged one.
pub(super) fn table() -> Option<&'static Table<'static>> {
    TABLE.get_or_init(open).as_ref()
}

fn open() -> Option<Table<'static>> {
    let value = std::env::var(variable::TABLE).ok()?;
    let mut parts = value.split(SEPARATOR);
    let (pid, number, inode) = (parts.next()?, parts.next()?, parts.next()?.parse().ok()?);
    let file = open_number(pid, number, inode).or_else(|| open_number("self", number, inode))?;
    let words = map(&file)?;
    let namespace = fs::metadata(NAMESPACE).ok()?.ino();
    if words[NAMESPACE_WORD].load(Ordering::SeqCst) != namespace {
        return None;
    }
    let table = Table::new(words, &liveness::is_alive)?;
    // A program that exec(2) started has the slot of the program before.
    table.forget(liveness::this_process()?);
    Some(table)
}

/// Opens a file by its number in a process, if it is the table.
fn open_number(pid: &str, number: &str, inode: u64) -> Option<File> {
    let file = File::options().read(true).write(true).open(format!("/proc/{pid}/fd/{number}")).ok()?;
    let found = file.metadata().ok()?;
    (found.ino() == inode && found.len() == BYTES as u64).then_some(file)
}

/// Maps the file for good.
fn map(file: &File) -> Option<&'static [AtomicU64]> {
    let rights = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the kernel chooses the address, so no memory of the program's is replaced.
    let address = unsafe { libc::mmap(std::ptr::null_mut(), BYTES, rights, libc::MAP_SHARED, file.as_raw_fd(), 0) };
    if address == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: the mapping has `WORDS` words, is aligned to a page and never unmapped. All processes access the words
    // with atomic operations only.
    Some(unsafe { std::slice::from_raw_parts(address.cast::<AtomicU64>(), WORDS) })
}
