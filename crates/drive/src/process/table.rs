//! The table of the processes below one `oomph phantom`. See Note `[Table]` in `crates/wire/src/table.rs`.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::IntoRawFd;
use std::os::unix::fs::MetadataExt;

use nix::fcntl::{FcntlArg, fcntl};
use nix::sys::memfd::{MFdFlags, memfd_create};
use wire::table::{BYTES, FIRST_SLOT_WORD, MAGIC, NAMESPACE, NAMESPACE_WORD, SEPARATOR};

/// The least number of the open file: shells and programs use low numbers for files of their own.
const LEAST_NUMBER: i32 = 600;

/// Creates a table that stays open in this process, and in the command that it becomes. Returns the value of the variable; `None` where the
/// kernel refuses: processes then do not share their devices.
pub fn create() -> Option<String> {
    create_file().ok()
}

fn create_file() -> io::Result<String> {
    let mut file = File::from(memfd_create("oomph-table", MFdFlags::empty())?);
    file.set_len(BYTES as u64)?;
    let mut header = [0; FIRST_SLOT_WORD];
    (header[0], header[NAMESPACE_WORD]) = (MAGIC, fs::metadata(NAMESPACE)?.ino());
    file.write_all(header.map(u64::to_ne_bytes).as_flattened())?;
    let inode = file.metadata()?.ino();
    // A limit below the number leaves the file where it is.
    let number = match fcntl(&file, FcntlArg::F_DUPFD(LEAST_NUMBER)) {
        Ok(number) => number,
        Err(_) => file.into_raw_fd(),
    };
    Ok(format!("{}{SEPARATOR}{number}{SEPARATOR}{inode}", std::process::id()))
}
