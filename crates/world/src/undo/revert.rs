//! Reverts one record. Each function changes nothing if the change did not happen, or is reverted already.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use rustix::fs::{OFlags, Stat};

use super::course::Course;
use super::journal::{Record, RecordKind};
use super::spot::{Spot, identity, is_folder, kind};

/// Reverts the record of a number.
pub(super) fn revert(index: usize, record: &Record, course: &Course) -> io::Result<()> {
    let is_change = matches!(
        record.kind,
        RecordKind::Copied
            | RecordKind::Appended
            | RecordKind::Attributes
            | RecordKind::Extended
            | RecordKind::Renamed
            | RecordKind::Exchanged
    );
    match revert_known(index, record, course) {
        Err(_) if is_change && course.is_on_made(index) && course.find(&record.state).is_none() => Ok(()),
        answer => answer,
    }
}

fn revert_known(index: usize, record: &Record, course: &Course) -> io::Result<()> {
    if record.kind == RecordKind::Uncovered {
        return Ok(());
    }
    let Some(spot) = Spot::find(&record.path)? else { return revert_in_no_folder(record, course) };
    let found = spot.stat()?;
    match (record.kind, found) {
        (RecordKind::Folder, Some(found)) if is_folder(found.st_mode) => {
            // The times of a folder of another user stay as they are.
            let _ = spot.set_times(&record.state);
            Ok(())
        }
        (RecordKind::Made | RecordKind::MadeFolder | RecordKind::Link, Some(found)) => {
            remove(index, record, course, &spot, &found)
        }
        // Records before this one may still need the folder: another process had made it.
        (RecordKind::Stash, Some(_)) if course.is_made_earlier(index, &record.path) => Ok(()),
        (RecordKind::Stash, Some(found)) => remove_stash(record, &found),
        (RecordKind::Folder | RecordKind::Stash | RecordKind::Made | RecordKind::MadeFolder | RecordKind::Link, _) => {
            Ok(())
        }
        (RecordKind::Stashed, found) => put_back(record, course, &spot, found.as_ref()),
        (RecordKind::RemovedFolder, found) => make_folder(record, &spot, found.as_ref()),
        (RecordKind::Renamed, None) => rename(record, course, &spot),
        (RecordKind::Renamed, Some(found)) => rename_over(record, course, &spot, &found),
        (RecordKind::Exchanged, _) => exchange(record, &spot),
        (_, found) => change_back(record, course, &spot, found.as_ref()),
    }
}

/// In an absent folder, nothing was made and no folder removed.
fn revert_in_no_folder(record: &Record, course: &Course) -> io::Result<()> {
    match record.kind {
        RecordKind::Stashed | RecordKind::Renamed if course.find(&record.state).is_none() => Err(absent()),
        RecordKind::Copied | RecordKind::Appended | RecordKind::Attributes | RecordKind::Extended => {
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
    // A folder that was removed has been made anew.
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
        RecordKind::Copied | RecordKind::Appended if !is_same(&found) => {
            Err(io::Error::other("another file is in its place"))
        }
        RecordKind::Copied => restore(record, spot),
        RecordKind::Appended => shorten(record, spot, found),
        _ if kind(found.st_mode) != kind(record.state.mode) => {
            Err(io::Error::other("another kind of file is in its place"))
        }
        RecordKind::Extended => {
            spot.set_attribute(record.other.as_deref().ok_or_else(absent)?, record.value.as_deref())
        }
        _ => spot.set_attributes(&record.state),
    }
}

/// Adds the place of the original to an error.
pub(super) fn with_stash(record: &Record, error: io::Error) -> io::Error {
    match &record.other {
        Some(stash) if matches!(record.kind, RecordKind::Stashed | RecordKind::Copied) => {
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
    let is_last = found.st_nlink <= 1 || record.kind != RecordKind::Link;
    // An original came here by a record that is reverted next, and a file of another kind by another process of the run.
    if (is_last && course.is_original(identity(found)))
        || is_folder(found.st_mode) != (record.kind == RecordKind::MadeFolder)
    {
        return Ok(());
    }
    match spot.remove(record.kind == RecordKind::MadeFolder) {
        Err(error)
            if error.kind() == io::ErrorKind::DirectoryNotEmpty
                && (course.has_kept_below(&record.path) || course.is_made_earlier(index, &record.path)) =>
        {
            Ok(())
        }
        answer => answer,
    }
}

/// Removes a folder for originals, with the copies that are left.
fn remove_stash(record: &Record, found: &Stat) -> io::Result<()> {
    if is_folder(found.st_mode) && found.st_uid == rustix::process::geteuid().as_raw() {
        std::fs::remove_dir_all(&record.path)?;
    }
    Ok(())
}

/// Moves an original from the stash to its place. A file there that no record explains gets another name.
fn put_back(record: &Record, course: &Course, spot: &Spot, found: Option<&Stat>) -> io::Result<()> {
    let Some(stash) = Spot::find(record.other.as_deref().ok_or_else(absent)?)? else { return Ok(()) };
    let Some(original) = stash.stat()? else { return Ok(()) };
    match found {
        None => stash.rename(spot),
        Some(found) if identity(found) == identity(&original) => stash.remove(false),
        // A file of the run's, or one of several names.
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

/// Renames back to `from`, which is absent.
fn rename(record: &Record, course: &Course, from: &Spot) -> io::Result<()> {
    if let Some(to) = Spot::find(record.other.as_deref().ok_or_else(absent)?)?
        && to.stat()?.is_some_and(|found| is_renamed(record, &found))
    {
        return to.rename(from);
    }
    match course.find(&record.state) {
        // Its own record puts the file back.
        Some((path, _)) if course.is_stash(&path) => Ok(()),
        Some((_, spot)) => spot.rename(from),
        None => Err(absent()),
    }
}

/// Reverts a rename whose earlier path is taken: the rename did not happen, or another process of the run made a file.
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
    // The phantom exchanges both before it moves the replaced file to the stash.
    from.exchange(&to)
}

/// True for the renamed file. A folder that was removed afterwards has been made anew.
fn is_renamed(record: &Record, found: &Stat) -> bool {
    let are_folders = is_folder(found.st_mode) && is_folder(record.state.mode);
    are_folders || identity(found) == record.state.identity()
}

fn exchange(record: &Record, spot: &Spot) -> io::Result<()> {
    let other = Spot::find(record.other.as_deref().ok_or_else(absent)?)?.ok_or_else(absent)?;
    match other.stat()? {
        Some(found) if identity(&found) == record.state.identity() => spot.exchange(&other),
        _ => Ok(()),
    }
}

/// Copies an original over the changed file, whose inode, and so whose other names, stay.
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

/// Copies what is no hole.
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

/// Opens a file to be written, whatever its mode became; the mode is restored afterwards.
fn writable(record: &Record, spot: &Spot) -> io::Result<File> {
    match spot.open(OFlags::WRONLY) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            spot.set_mode(record.state.mode | 0o200)?;
            spot.open(OFlags::WRONLY)
        }
        answer => answer,
    }
}
