//! Reverts one record. Each function changes nothing if the change did not happen, or is reverted already.

use std::io;

use super::account::Maker;
use super::contents;
use super::journal::{JournalKind, Record};
use super::reverting::{Reverting, absent, beside};
use super::spot::{Found, Spot, identity, is_folder, kind};

/// Reverts the record of a number. `is_repeated`: an earlier call was killed at this record.
pub(super) fn revert(index: usize, record: &Record, reverting: &mut Reverting, is_repeated: bool) -> io::Result<()> {
    (reverting.index, reverting.is_repeated) = (index, is_repeated);
    let course = reverting.course;
    let is_change = matches!(
        record.kind,
        JournalKind::Copied
            | JournalKind::Appended
            | JournalKind::Attributes
            | JournalKind::Extended
            | JournalKind::Renamed
            | JournalKind::Exchanged
    );
    match revert_known(record, reverting) {
        Err(_) if is_change && course.is_on_made(index) && reverting.find(record).is_none() => Ok(()),
        answer => answer,
    }
}

fn revert_known(record: &Record, reverting: &mut Reverting) -> io::Result<()> {
    let (course, index) = (reverting.course, reverting.index);
    if record.kind == JournalKind::Uncovered {
        return Ok(());
    }
    let Some(spot) = Spot::find(&record.path)? else { return revert_in_no_folder(record, reverting) };
    let found = spot.stat()?;
    match (record.kind, found) {
        (JournalKind::Folder, Some(found)) if is_folder(found.st_mode) => {
            if !reverting.is_folder_left(&record.path) {
                // The times of a different user's folder stay unchanged.
                let _ = spot.set_times(&record.state);
            }
            Ok(())
        }
        (JournalKind::Made | JournalKind::MadeFolder | JournalKind::Link, Some(found)) => {
            remove(record, reverting, &spot, &found)
        }
        // Earlier records may still need the folder, made before by a different process.
        (JournalKind::Stash, Some(_)) if course.is_made_earlier(index, &record.path) => Ok(()),
        (JournalKind::Stash, Some(found)) => remove_stash(record, &found),
        (
            JournalKind::Folder | JournalKind::Stash | JournalKind::Made | JournalKind::MadeFolder | JournalKind::Link,
            _,
        ) => Ok(()),
        (JournalKind::Stashed, found) => put_back(record, reverting, &spot, found.as_ref()),
        (JournalKind::RemovedFolder, found) => make_folder(record, &spot, found.as_ref()),
        (JournalKind::Renamed, None) => rename(record, reverting, &spot),
        (JournalKind::Renamed, Some(found)) => rename_over(record, reverting, &spot, &found),
        (JournalKind::Exchanged, _) => exchange(record, &spot),
        (_, found) => change_back(record, reverting, &spot, found.as_ref()),
    }
}

/// In an absent folder, nothing was made and no folder removed.
fn revert_in_no_folder(record: &Record, reverting: &mut Reverting) -> io::Result<()> {
    match record.kind {
        JournalKind::Stashed | JournalKind::Renamed if reverting.find(record).is_none() => Err(absent()),
        JournalKind::Copied | JournalKind::Appended | JournalKind::Attributes | JournalKind::Extended => {
            match reverting.find(record) {
                Some((_, spot)) => change_back(record, reverting, &spot, spot.stat()?.as_ref()),
                None => Err(absent()),
            }
        }
        _ => Ok(()),
    }
}

/// Reverts a change of content or attributes, wherever the file is.
fn change_back(record: &Record, reverting: &mut Reverting, spot: &Spot, found: Option<&Found>) -> io::Result<()> {
    // A removed folder has been made anew.
    let is_same = |found: &&Found| {
        let is_file = identity(found) == record.state.identity();
        is_file || (is_folder(found.st_mode) && is_folder(record.state.mode))
    };
    if !found.is_some_and(|found| is_same(&found))
        && let Some((_, spot)) = reverting.find(record)
    {
        let found = spot.stat()?;
        return change_back(record, reverting, &spot, found.as_ref().filter(is_same));
    }
    let found = found.ok_or_else(absent)?;
    let is_other = !is_same(&found);
    match record.kind {
        JournalKind::Copied if is_other => {
            let stash = record.other.as_deref().ok_or_else(absent)?;
            reverting.put_beside(record, stash, "others replaced it meanwhile")
        }
        // The file of the program's changes is gone.
        JournalKind::Appended if is_other => Ok(()),
        JournalKind::Copied => contents::restore(reverting, record, spot, found),
        JournalKind::Appended => contents::shorten(reverting, record, spot, found),
        _ if kind(found.st_mode) != kind(record.state.mode) => {
            Err(io::Error::other("another kind of file is in its place"))
        }
        JournalKind::Extended => {
            spot.set_attribute(record.other.as_deref().ok_or_else(absent)?, record.value.as_deref())
        }
        _ if is_other && !is_folder(found.st_mode) => Ok(()),
        _ if reverting.is_left(found) => spot.set_owner_and_mode(&record.state),
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

/// Removes a made path.
fn remove(record: &Record, reverting: &mut Reverting, spot: &Spot, found: &Found) -> io::Result<()> {
    let course = reverting.course;
    let is_last = found.st_nlink <= 1 || record.kind != JournalKind::Link;
    let is_folder_made = record.kind == JournalKind::MadeFolder;
    // An original came here by the next record to be reverted, and a file of a different kind by a parallel process.
    if (is_last && course.is_original(identity(found)))
        || is_folder(found.st_mode) != is_folder_made
        || is_of_others(record, reverting, spot, found)?
        || (!is_folder_made && is_last && contents::keep_foreign(reverting, record, spot, found)?)
    {
        return Ok(());
    }
    match spot.remove(is_folder_made) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
            if !course.has_kept_below(&record.path) && !course.is_made_earlier(reverting.index, &record.path) {
                reverting.report(record, "others put files into this folder of the program");
            }
            Ok(())
        }
        answer => answer,
    }
}

/// True if the run's file is gone, and others made one of its name.
fn is_of_others(record: &Record, reverting: &Reverting, spot: &Spot, found: &Found) -> io::Result<bool> {
    if reverting.is_left(found) {
        return Ok(true);
    }
    match record.kind {
        JournalKind::Link => return Ok(identity(found) != record.state.identity()),
        // A removed folder was made anew by a later record. Only an empty folder is removed.
        JournalKind::MadeFolder => return Ok(false),
        _ => {}
    }
    Ok(reverting.find_maker(&record.path, spot)? == Maker::Others)
}

/// Removes a folder for originals, with the remaining copies.
fn remove_stash(record: &Record, found: &Found) -> io::Result<()> {
    if is_folder(found.st_mode) && found.st_uid == rustix::process::geteuid().as_raw() {
        std::fs::remove_dir_all(&record.path)?;
    }
    Ok(())
}

/// Moves an original from the stash to the original's place. A file that others put there stays; a file of an unknown maker is
/// renamed.
fn put_back(record: &Record, reverting: &mut Reverting, spot: &Spot, found: Option<&Found>) -> io::Result<()> {
    let path = record.other.as_deref().ok_or_else(absent)?;
    let Some(stash) = Spot::find(path)? else { return Ok(()) };
    let Some(original) = stash.stat()? else { return Ok(()) };
    let Some(found) = found else { return stash.rename(spot) };
    if identity(found) == identity(&original) {
        return stash.remove(false);
    }
    let maker = find_maker(record, reverting, spot, found)?;
    match maker {
        Maker::Run if !is_folder(found.st_mode) => {
            spot.remove(false)?;
            stash.rename(spot)
        }
        Maker::Unknown => {
            let aside = beside(&record.path, "later");
            let free = Spot::find(&aside)?.ok_or_else(absent)?;
            spot.rename(&free)?;
            stash.rename(spot)?;
            Err(io::Error::other(format!("a later file was in its place and is now {}", aside.display())))
        }
        _ => reverting.put_beside(record, path, "others made a file of its name meanwhile"),
    }
}

/// The maker of a file in the place of a moved file. A file with several names is the run's if the run made a name.
fn find_maker(record: &Record, reverting: &Reverting, spot: &Spot, found: &Found) -> io::Result<Maker> {
    let course = reverting.course;
    if reverting.is_left(found) {
        return Ok(Maker::Others);
    }
    if course.is_made(identity(found)) || (found.st_nlink > 1 && course.is_linked(identity(found))) {
        return Ok(Maker::Run);
    }
    reverting.find_maker(&record.path, spot)
}

fn make_folder(record: &Record, spot: &Spot, found: Option<&Found>) -> io::Result<()> {
    match found {
        None => spot.make_folder()?,
        Some(found) if is_folder(found.st_mode) => {}
        Some(_) => return Err(io::Error::other("a file is in the place of a folder")),
    }
    spot.set_attributes(&record.state)
}

/// Renames back to the absent path `from`.
fn rename(record: &Record, reverting: &Reverting, from: &Spot) -> io::Result<()> {
    if let Some(to) = Spot::find(record.other.as_deref().ok_or_else(absent)?)?
        && to.stat()?.is_some_and(|found| is_renamed(record, &found))
    {
        return to.rename(from);
    }
    match reverting.find(record) {
        // The record of the stashed file puts the file back.
        Some((path, _)) if reverting.course.is_stash(&path) || reverting.is_beside(&path) => Ok(()),
        Some((_, spot)) => spot.rename(from),
        None => Err(absent()),
    }
}

/// Reverts a rename with a taken earlier path: the rename did not happen, or another process made a file.
fn rename_over(record: &Record, reverting: &mut Reverting, from: &Spot, found: &Found) -> io::Result<()> {
    let course = reverting.course;
    let state = record.state.identity();
    let later = record.other.as_deref().ok_or_else(absent)?;
    let Some(to) = Spot::find(later)? else { return Ok(()) };
    let is_renamed = to.stat()?.is_some_and(|found| identity(&found) == state);
    if !is_renamed || identity(found) == state || is_folder(record.state.mode) {
        return Ok(());
    }
    // The phantom exchanges the two files before moving the replaced file to the stash.
    if course.is_original(identity(found)) {
        return from.exchange(&to);
    }
    match find_maker(record, reverting, from, found)? {
        Maker::Run if !is_folder(found.st_mode) => {
            from.remove(false)?;
            to.rename(from)
        }
        Maker::Unknown => from.exchange(&to),
        // The maker's record finds no file of the run any more.
        _ if record.state.is_made => match to.stat()? {
            Some(found) if !contents::keep_foreign(reverting, record, &to, &found)? => to.remove(false),
            _ => Ok(()),
        },
        _ => reverting.put_beside(record, later, "others made a file of its name meanwhile"),
    }
}

/// True for the renamed file. A folder removed afterwards has been made anew.
fn is_renamed(record: &Record, found: &Found) -> bool {
    let are_folders = is_folder(found.st_mode) && is_folder(record.state.mode);
    are_folders || identity(found) == record.state.identity()
}

fn exchange(record: &Record, spot: &Spot) -> io::Result<()> {
    let other = Spot::find(record.other.as_deref().ok_or_else(absent)?)?.ok_or_else(absent)?;
    let is_same = |found: &Found| identity(found) == record.state.identity();
    match (spot.stat()?, other.stat()?) {
        // A file of the run was removed after the exchange, and stays removed.
        (Some(here), None) if !is_same(&here) => spot.rename(&other),
        (None, Some(there)) if is_same(&there) => other.rename(spot),
        (Some(_), Some(there)) if is_same(&there) => spot.exchange(&other),
        _ => Ok(()),
    }
}
