//! Reverts changes of contents: others may have changed the file as well.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use rustix::fs::OFlags;

use super::account::FileAccount;
use super::growth::{Growth, find_growth, length};
use super::journal::{FileState, JournalKind, Record};
use super::reverting::{Reverting, absent};
use super::spot::{Found, Spot, identity};

/// The unit of copies and comparisons.
const PIECE_BYTES: usize = 1 << 20;

/// Copies an original over the changed file: the inode stays, with all names of the file. After a change by others, the file
/// stays, and the original comes beside the file.
pub(super) fn restore(reverting: &mut Reverting, record: &Record, spot: &Spot, found: &Found) -> io::Result<()> {
    let stash = Spot::find(record.other.as_deref().ok_or_else(absent)?)?.ok_or_else(absent)?;
    let account = reverting.find_account(spot)?;
    if account.is_some_and(|account| !account.is_in_place && !account.own.is_empty()) && has_same_start(&stash, spot)? {
        return shorten(reverting, record, spot, found);
    }
    if account.is_some_and(|account| reverting.is_changed_by_others(account, found)) {
        return reverting.leave(record, spot, identity(found), "others changed it meanwhile");
    }
    write_back(record, &stash, spot)?;
    reverting.note_restored(record);
    Ok(())
}

fn write_back(record: &Record, stash: &Spot, spot: &Spot) -> io::Result<()> {
    let original = stash.open(OFlags::RDONLY)?;
    let file = writable(record, spot)?;
    let size = original.metadata()?.len();
    if rustix::fs::ioctl_ficlone(file.as_fd(), original.as_fd()).is_ok() {
        file.set_len(size)?;
    } else {
        file.set_len(0)?;
        file.set_len(size)?;
        copy_data(&original, &file, size)?;
    }
    drop(file);
    spot.set_attributes(&record.state)
}

/// True if a file starts with the content of its original.
fn has_same_start(stash: &Spot, spot: &Spot) -> io::Result<bool> {
    let (mut original, file) = (stash.open(OFlags::RDONLY)?, spot.open(OFlags::RDONLY)?);
    let (mut one, mut other) = (vec![0; PIECE_BYTES], vec![0; PIECE_BYTES]);
    let mut offset = 0;
    loop {
        let count = original.read(&mut one)?;
        if count == 0 {
            return Ok(true);
        }
        match file.read_exact_at(&mut other[..count], offset) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            answer => answer?,
        }
        if one[..count] != other[..count] {
            return Ok(false);
        }
        offset += count as u64;
    }
}

/// Cuts the program's bytes off a grown file.
pub(super) fn shorten(reverting: &mut Reverting, record: &Record, spot: &Spot, found: &Found) -> io::Result<()> {
    let size = u64::try_from(found.st_size).unwrap_or_default();
    let account = reverting.find_account(spot)?;
    let growth = match account.filter(|account| account.is_in_place) {
        _ if size < record.state.size => None,
        // The ranges are not the only changes.
        Some(account) if reverting.is_changed_by_others(account, found) => {
            return reverting.leave(record, spot, identity(found), "others changed it meanwhile");
        }
        Some(_) => find_growth(record.state.size, size, None),
        // Earlier ranges are in the original, and later ones went with the content that a later record took back.
        None if record.kind == JournalKind::Copied || reverting.is_restored(found) => {
            let account = account.map(|account| account.within(record.state.size, size));
            find_growth(record.state.size, size, account.as_ref())
        }
        None => find_growth(record.state.size, size, account),
    };
    let Some(growth) = growth else {
        return reverting.leave(record, spot, identity(found), "others made it shorter meanwhile");
    };
    if growth.foreign.is_empty() && reverting.find_tail().is_none() {
        if size > record.state.size && !cut_off(record, spot, size)? {
            // Others have just written: their bytes are no longer in front of the end.
            let found = spot.stat()?.ok_or_else(absent)?;
            return shorten(reverting, record, spot, &found);
        }
        reverting.note_restored(record);
        return spot.set_attributes(&record.state);
    }
    take_out(reverting, record, spot, size, &growth)?;
    spot.set_owner_and_mode(&record.state)?;
    reverting.note_restored(record);
    reverting.note_left(identity(found), &record.path);
    if growth.is_doubtful {
        reverting.report(record, "others wrote to it meanwhile, and bytes of the program may be among theirs");
    }
    Ok(())
}

/// Cuts a file off at its earlier size; false if its size is another now.
fn cut_off(record: &Record, spot: &Spot, size: u64) -> io::Result<bool> {
    let file = writable(record, spot)?;
    let is_same = file.metadata()?.len() == size;
    if is_same {
        file.set_len(record.state.size)?;
    }
    Ok(is_same)
}

/// Leaves only the bytes of others in a file of the program; false without such bytes.
pub(super) fn keep_foreign(reverting: &mut Reverting, record: &Record, spot: &Spot, found: &Found) -> io::Result<bool> {
    let account = reverting.find_account(spot)?.filter(|account| !account.is_in_place && !account.own.is_empty());
    let size = u64::try_from(found.st_size).unwrap_or_default();
    let Some(growth) = account.and_then(|account: &FileAccount| find_growth(0, size, Some(account))) else {
        return Ok(false);
    };
    if growth.foreign.is_empty() && reverting.find_tail().is_none() {
        return Ok(false);
    }
    let nothing = Record { state: FileState::default(), ..record.clone() };
    take_out(reverting, &nothing, spot, size, &growth)?;
    reverting.note_left(identity(found), &record.path);
    reverting.report(record, "others wrote to this file of the program: their bytes stay");
    Ok(true)
}

/// Removes the own bytes between those of others. A killed call is repeated: the bytes of others are in a file of the journal
/// first, under a name with the size of the whole file.
fn take_out(reverting: &mut Reverting, record: &Record, spot: &Spot, size: u64, growth: &Growth) -> io::Result<()> {
    let start = record.state.size;
    let file = writable(record, spot)?;
    let (tail, size) = match reverting.find_tail() {
        // The file has been cut off already.
        Some((_, whole)) if size < whole => return Ok(()),
        Some(known) => known,
        None if start + length(&growth.foreign) == size => return Ok(()),
        None => (gather(reverting, spot, size, &growth.foreign)?, size),
    };
    let tail = File::open(tail)?;
    let mut end = start;
    copy_range(&tail, &file, 0..tail.metadata()?.len(), &mut end, &mut vec![0; PIECE_BYTES])?;
    let mut whole = size;
    // The bytes that others have written in the meantime.
    loop {
        let now = file.metadata()?.len();
        if now <= whole {
            return file.set_len(end);
        }
        let source = spot.open(OFlags::RDONLY)?;
        copy_range(&source, &file, whole..now, &mut end, &mut vec![0; PIECE_BYTES])?;
        whole = now;
    }
}

/// Copies the bytes of others to the folder of the journal.
fn gather(reverting: &Reverting, spot: &Spot, size: u64, ranges: &[Range<u64>]) -> io::Result<PathBuf> {
    let source = spot.open(OFlags::RDONLY)?;
    let (part, path) = reverting.name_tail(size);
    let tail = File::create(&part)?;
    let (mut end, mut buffer) = (0, vec![0; PIECE_BYTES]);
    for range in ranges {
        copy_range(&source, &tail, range.clone(), &mut end, &mut buffer)?;
    }
    fs::rename(part, &path)?;
    Ok(path)
}

/// Copies the data between holes.
fn copy_data(from: &File, to: &File, size: u64) -> io::Result<()> {
    let mut buffer = vec![0; PIECE_BYTES];
    let mut end = 0;
    while end < size {
        let start = match rustix::fs::seek(from, rustix::fs::SeekFrom::Data(end)) {
            Ok(start) => start,
            Err(rustix::io::Errno::NXIO) => return Ok(()),
            Err(_) => end,
        };
        end = rustix::fs::seek(from, rustix::fs::SeekFrom::Hole(start)).unwrap_or(size).max(start + 1);
        copy_range(from, to, start..end, &mut { start }, &mut buffer)?;
    }
    Ok(())
}

/// Copies a range to the offset `to_offset`, which moves on.
fn copy_range(mut from: &File, to: &File, range: Range<u64>, to_offset: &mut u64, buffer: &mut [u8]) -> io::Result<()> {
    from.seek(SeekFrom::Start(range.start))?;
    let mut rest = from.take(range.end - range.start);
    loop {
        let count = rest.read(buffer)?;
        if count == 0 {
            return Ok(());
        }
        to.write_all_at(&buffer[..count], *to_offset)?;
        *to_offset += count as u64;
    }
}

/// Opens a file to be written, in spite of the file's mode; the mode is restored afterwards.
pub(super) fn writable(record: &Record, spot: &Spot) -> io::Result<File> {
    match spot.open(OFlags::WRONLY) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            spot.set_mode(record.state.mode | 0o200)?;
            spot.open(OFlags::WRONLY)
        }
        answer => answer,
    }
}
