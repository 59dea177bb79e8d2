//! Reverts one record. Each function changes nothing if the change did not happen, or is reverted already.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use rustix::fs::{OFlags, Stat};

use super::course::Course;
use super::journal::{JournalKind, Record};
use super::spot::{Spot, identity, is_folder, kind};

/// Reverts the record of a number.
pub(super) fn revert(index: usize, record: &Record, course: &Course) -> io::Result<()> {
    let is_change = matches!(
        record.kind,
        JournalKind::Copied
            | JournalKind::Appended
            | JournalKind::Attributes
            | JournalKind::Extended
            | JournalKind::Renamed
            | JournalKind::Exchanged
    );
    match revert_known(index, record, course) {
        Err(_) if is_change && course.is_on_made(index) && course.find(&record.state).is_none() => Ok(()),
        answer => answer,
    }
}

fn revert_known(index: usize, record: &Record, course: &Course) -> io::Result<()> {
    if record.kind == JournalKind::Uncovered {
        return Ok(());
    }
    let Some(spot) = Spot::find(&record.path)? else { return revert_in_no_folder(record, course) };
    let found = spot.stat()?;
    match (record.kind, found) {
        (JournalKind::Folder, Some(found)) if is_folder(found.st_mode) => {
            // The times of a different user's folder stay unchanged.
            let _ = spot.set_times(&record.state);
            Ok(())
        }
        (JournalKind::Made | JournalKind::MadeFolder | JournalKind::Link, Some(found)) => {
            remove(index, record, course, &spot, &found)
        }
        // Earlier records may still need the folder, made before by a different process.
        (JournalKind::Stash, Some(_)) if course.is_made_earlier(index, &record.path) => Ok(()),
        (JournalKind::Stash, Some(found)) => remove_stash(record, &found),
        (
            JournalKind::Folder | JournalKind::Stash | JournalKind::Made | JournalKind::MadeFolder | JournalKind::Link,
            _,
        ) => Ok(()),
        (JournalKind::Stashed, found) => put_back(record, course, &spot, found.as_ref()),
        (JournalKind::RemovedFolder, found) => make_folder(record, &spot, found.as_ref()),
        (JournalKind::Renamed, None) => rename(record, course, &spot),
        (JournalKind::Renamed, Some(found)) => rename_over(record, course, &spot, &found),
        (JournalKind::Exchanged, _) => exchange(record, &spot),
        (_, found) => change_back(record, course, &spot, found.as_ref()),
    }
}

/// In an absent folder, nothing was made and no folder removed.
fn revert_in_no_folder(record: &Record, course: &Course) -> io::Result<()> {
    match record.kind {
        JournalKind::Stashed | JournalKind::Renamed if course.find(&record.state).is_none() => Err(absent()),
        JournalKind::Copied | JournalKind::Appended | JournalKind::Attributes | JournalKind::Extended => {
            match course.find(&record.state) {
                Some((_, spot)) => change_back(record, course, &spot, spot.stat()?.as_ref()),
                None => Err(absent()),
            }
        }
        _ => Ok(()),
    }
}

/// Reverts a change of content or attributes, wherever the file is.
fn change_back(record: &Record, course: &Course, spot: &Spot, found: Option<&Stat>) -> io::Result<()> {
    // A removed folder has been made anew.
    let is_same = |found: &&Stat| {
        identity(found) == record.state.identity() || (is_folder(found.st_mode) && is_folder(record.state.mode))
    };
    if !found.is_some_and(|found| is_same(&found))
        && let Some((_, spot)) = course.find(&record.state)
    {
        let found = spot.stat()?;
        return change_back(record, course, &spot, found.as_ref().filter(is_same));
    }
    let found = found.ok_or_else(absent)?;
    match record.kind {
        JournalKind::Copied | JournalKind::Appended if !is_same(&found) => {
            Err(io::Error::other("another file is in its place"))
        }
        JournalKind::Copied => restore(record, spot),
        JournalKind::Appended => shorten(record, spot, found),
        _ if kind(found.st_mode) != kind(record.state.mode) => {
            Err(io::Error::other("another kind of file is in its place"))
        }
        JournalKind::Extended => {
            spot.set_attribute(record.other.as_deref().ok_or_else(absent)?, record.value.as_deref())
        }
        _ => spot.set_attributes(&record.state),
    }
}

/// Adds the place of the original to an error.
pub(super) fn with_stash(record: &Record, error: io::Error) -> io::Error {
    match &record.other {
        Some(stash) if matches!(record.kind, JournalKind::Stashed | JournalKind::Copied) => {
            io::Error::new(error.kind(), format!("{error}; the original is {}", stash.display()))
        }
        _ => error,
    }
}

fn absent() -> io::Error {
    io::ErrorKind::NotFound.into()
}

/// Removes a made path.
fn remove(index: usize, record: &Record, course: &Course, spot: &Spot, found: &Stat) -> io::Result<()> {
    let is_last = found.st_nlink <= 1 || record.kind != JournalKind::Link;
    // An original came here by the next record to be reverted, and a file of a different kind by a parallel process.
    if (is_last && course.is_original(identity(found)))
        || is_folder(found.st_mode) != (record.kind == JournalKind::MadeFolder)
    {
        return Ok(());
    }
    match spot.remove(record.kind == JournalKind::MadeFolder) {
        Err(error)
            if error.kind() == io::ErrorKind::DirectoryNotEmpty
                && (course.has_kept_below(&record.path) || course.is_made_earlier(index, &record.path)) =>
        {
            Ok(())
        }
        answer => answer,
    }
}

/// Removes a folder for originals, with the remaining copies.
fn remove_stash(record: &Record, found: &Stat) -> io::Result<()> {
    if is_folder(found.st_mode) && found.st_uid == rustix::process::geteuid().as_raw() {
        std::fs::remove_dir_all(&record.path)?;
    }
    Ok(())
}

/// Moves an original from the stash to the original's place. An unexplained file in the place is renamed.
fn put_back(record: &Record, course: &Course, spot: &Spot, found: Option<&Stat>) -> io::Result<()> {
    let Some(stash) = Spot::find(record.other.as_deref().ok_or_else(absent)?)? else { return Ok(()) };
    let Some(original) = stash.stat()? else { return Ok(()) };
    match found {
        None => stash.rename(spot),
        Some(found) if identity(found) == identity(&original) => stash.remove(false),
        // A file of the run's, or a file with several names.
        Some(found) if !is_folder(found.st_mode) && is_spare(course, found) => {
            spot.remove(false)?;
            stash.rename(spot)
        }
        Some(_) => {
            let aside = beside(&record.path);
            let free = Spot::find(&aside)?.ok_or_else(absent)?;
            spot.rename(&free)?;
            stash.rename(spot)?;
            Err(io::Error::other(format!("a later file was in its place and is now {}", aside.display())))
        }
    }
}

fn is_spare(course: &Course, found: &Stat) -> bool {
    course.is_made(identity(found)) || (found.st_nlink > 1 && course.is_linked(identity(found)))
}

/// A free name beside a path.
fn beside(path: &Path) -> std::path::PathBuf {
    let name = |number: u32| {
        let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
        name.push(format!(".later-{number}"));
        path.with_file_name(name)
    };
    let mut free = (1..=u32::MAX).map(name);
    free.find(|path| path.symlink_metadata().is_err()).unwrap_or_else(|| path.to_owned())
}

fn make_folder(record: &Record, spot: &Spot, found: Option<&Stat>) -> io::Result<()> {
    match found {
        None => spot.make_folder()?,
        Some(found) if is_folder(found.st_mode) => {}
        Some(_) => return Err(io::Error::other("a file is in the place of a folder")),
    }
    spot.set_attributes(&record.state)
}

/// Renames back to the absent path `from`.
fn rename(record: &Record, course: &Course, from: &Spot) -> io::Result<()> {
    if let Some(to) = Spot::find(record.other.as_deref().ok_or_else(absent)?)?
        && to.stat()?.is_some_and(|found| is_renamed(record, &found))
    {
        return to.rename(from);
    }
    match course.find(&record.state) {
        // The record of the stashed file puts the file back.
        Some((path, _)) if course.is_stash(&path) => Ok(()),
        Some((_, spot)) => spot.rename(from),
        None => Err(absent()),
    }
}

/// Reverts a rename with a taken earlier path: the rename did not happen, or a parallel process of the run made a file.
fn rename_over(record: &Record, course: &Course, from: &Spot, found: &Stat) -> io::Result<()> {
    let state = record.state.identity();
    let Some(to) = Spot::find(record.other.as_deref().ok_or_else(absent)?)? else { return Ok(()) };
    let is_renamed = to.stat()?.is_some_and(|found| identity(&found) == state);
    if !is_renamed || identity(found) == state || is_folder(record.state.mode) {
        return Ok(());
    }
    if course.is_made(identity(found)) && !is_folder(found.st_mode) {
        from.remove(false)?;
        return to.rename(from);
    }
    // The phantom exchanges the two files before moving the replaced file to the stash.
    from.exchange(&to)
}

/// True for the renamed file. A folder removed afterwards has been made anew.
fn is_renamed(record: &Record, found: &Stat) -> bool {
    let are_folders = is_folder(found.st_mode) && is_folder(record.state.mode);
    are_folders || identity(found) == record.state.identity()
}

fn exchange(record: &Record, spot: &Spot) -> io::Result<()> {
    let other = Spot::find(record.other.as_deref().ok_or_else(absent)?)?.ok_or_else(absent)?;
    let is_same = |found: &Stat| identity(found) == record.state.identity();
    match (spot.stat()?, other.stat()?) {
        // A file of the run was removed after the exchange, and stays removed.
        (Some(here), None) if !is_same(&here) => spot.rename(&other),
        (None, Some(there)) if is_same(&there) => other.rename(spot),
        (Some(_), Some(there)) if is_same(&there) => spot.exchange(&other),
        _ => Ok(()),
    }
}

/// Copies an original over the changed file: the inode stays, with all names of the file.
fn restore(record: &Record, spot: &Spot) -> io::Result<()> {
    let stash = Spot::find(record.other.as_deref().ok_or_else(absent)?)?.ok_or_else(absent)?;
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

/// Copies the data between holes.
fn copy_data(from: &File, to: &File, size: u64) -> io::Result<()> {
    let mut buffer = vec![0; 1 << 20];
    let mut end = 0;
    while end < size {
        let start = match rustix::fs::seek(from, rustix::fs::SeekFrom::Data(end)) {
            Ok(start) => start,
            Err(rustix::io::Errno::NXIO) => return Ok(()),
            Err(_) => end,
        };
        end = rustix::fs::seek(from, rustix::fs::SeekFrom::Hole(start)).unwrap_or(size).max(start + 1);
        copy_range(from, to, start..end, &mut buffer)?;
    }
    Ok(())
}

fn copy_range(mut from: &File, to: &File, range: std::ops::Range<u64>, buffer: &mut [u8]) -> io::Result<()> {
    from.seek(SeekFrom::Start(range.start))?;
    let mut rest = from.take(range.end - range.start);
    let mut offset = range.start;
    loop {
        let count = rest.read(buffer)?;
        if count == 0 {
            return Ok(());
        }
        to.write_all_at(&buffer[..count], offset)?;
        offset += count as u64;
    }
}

fn shorten(record: &Record, spot: &Spot, found: &Stat) -> io::Result<()> {
    let size = u64::try_from(found.st_size).unwrap_or_default();
    if size < record.state.size {
        return Err(io::Error::other("the file is shorter than before"));
    }
    if size > record.state.size {
        let mut file = writable(record, spot)?;
        file.set_len(record.state.size)?;
        file.flush()?;
    }
    spot.set_attributes(&record.state)
}

/// Opens a file to be written, in spite of the file's mode; the mode is restored afterwards.
fn writable(record: &Record, spot: &Spot) -> io::Result<File> {
    match spot.open(OFlags::WRONLY) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            spot.set_mode(record.state.mode | 0o200)?;
            spot.open(OFlags::WRONLY)
        }
        answer => answer,
    }
}
