//! The original of a file goes to the stash or into the journal, before the program changes the file.

use super::kernel::{self, Answer, Stat};
use super::place::Place;
use super::record::{JournalKind, append};
use super::setup::Setup;
use super::stash;
use super::table::{Fact, hash};

/// The size of the largest copied file.
const COPIED_BYTES: u64 = 1 << 30;
/// A file up to this size is copied before a truncation. A larger file is moved away at once; open descriptors of the
/// program then refer to the moved file.
const SMALL_BYTES: u64 = 256 << 10;

/// True if the run made the file.
pub(super) fn is_made(setup: &Setup, place: &Place, stat: &Stat) -> bool {
    setup.table.has(hash(Fact::Made, stat, place.bytes()))
}

/// Journals the times of the folder of a path, once.
pub(super) fn parent_times(setup: &Setup, place: &Place) -> Answer<()> {
    stash::times(setup, &Place::join(&[place.parent()])?)
}

/// Preserves a file before a change in place.
pub(super) fn content(setup: &Setup, place: &Place, stat: &Stat) -> Answer<()> {
    let known = hash(Fact::Content, stat, place.bytes());
    if !stat.is(libc::S_IFREG) || is_made(setup, place, stat) || setup.table.has(known) {
        return Ok(());
    }
    let stash = stash::name_for_copy(setup, place)?;
    match stash::copy(place, &stash, stat, COPIED_BYTES) {
        Err(libc::EFBIG) => {
            append(setup, JournalKind::Uncovered, stat, &[place.bytes()])?;
            return Err(libc::EROFS);
        }
        answer => answer?,
    }
    append(setup, JournalKind::Copied, stat, &[place.bytes(), stash.bytes()])?;
    setup.table.add(known);
    setup.table.add(hash(Fact::Attributes, stat, place.bytes()));
    Ok(())
}

/// Journals the length of a file before the file grows.
pub(super) fn length(setup: &Setup, place: &Place, stat: &Stat) -> Answer<()> {
    let known = [Fact::Made, Fact::Content, Fact::Length].map(|fact| hash(fact, stat, place.bytes()));
    if !stat.is(libc::S_IFREG) || known.iter().any(|hash| setup.table.has(*hash)) {
        return Ok(());
    }
    append(setup, JournalKind::Appended, stat, &[place.bytes()])?;
    setup.table.add(hash(Fact::Length, stat, place.bytes()));
    setup.table.add(hash(Fact::Attributes, stat, place.bytes()));
    Ok(())
}

/// Preserves a file before a truncation.
pub(super) fn truncated(setup: &Setup, place: &Place, stat: &Stat) -> Answer<()> {
    if is_made(setup, place, stat) || setup.table.has(hash(Fact::Content, stat, place.bytes())) {
        return Ok(());
    }
    if stat.size == 0 {
        return length(setup, place, stat);
    }
    let user = kernel::user();
    let is_small = stat.stored <= SMALL_BYTES && stat.size <= SMALL_BYTES;
    if is_small || stat.links > 1 || (user != stat.owner && user != 0) {
        return content(setup, place, stat);
    }
    moved(setup, place, stat).or_else(|_| content(setup, place, stat))
}

/// Moves a file to the stash, and makes an empty file in the old place.
fn moved(setup: &Setup, place: &Place, stat: &Stat) -> Answer<()> {
    let stash = stash::name_beside(setup, place)?;
    away(setup, place, stat, &stash)?;
    match append(setup, JournalKind::Made, &stamped(), &[place.bytes()]).and_then(|()| replacement(setup, place, stat))
    {
        // A parallel process of the run made a file here.
        Ok(()) | Err(libc::EEXIST) => Ok(()),
        Err(_) => kernel::rename(stash.text(), place.text()),
    }
}

fn replacement(setup: &Setup, place: &Place, stat: &Stat) -> Answer<()> {
    let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL;
    let file = kernel::open(libc::AT_FDCWD, place.text(), flags, 0o600)?;
    // The group stays the user's own if the system refuses the original group.
    let _ = kernel::set_owner(&file, stat.owner, stat.group);
    let _ = kernel::set_mode(&file, stat.mode);
    let fresh = kernel::stat_descriptor(file.0)?;
    setup.table.add(hash(Fact::Made, &fresh, place.bytes()));
    Ok(())
}

/// Moves a file to the stash.
fn away(setup: &Setup, place: &Place, stat: &Stat, stash: &Place) -> Answer<()> {
    parent_times(setup, place)?;
    append(setup, JournalKind::Stashed, stat, &[place.bytes(), stash.bytes()])?;
    kernel::rename(place.text(), stash.text())
}

/// Moves a removed file to the stash. A made file is unlinked there: no process can put a different file under the
/// stash's name in between.
pub(super) fn removed(setup: &Setup, place: &Place, stat: &Stat) -> Answer<()> {
    let stash = stash::name_beside(setup, place)?;
    away(setup, place, stat, &stash)?;
    discard(setup, &stash);
    Ok(())
}

/// Unlinks a stashed file made by the run.
fn discard(setup: &Setup, stash: &Place) {
    if let Ok(Some(stat)) = stash.stat()
        && is_made(setup, stash, &stat)
    {
        // A remaining file takes disk space, with no further harm.
        let _ = kernel::unlink(stash.text());
    }
}

/// Journals the replacement of a file by a rename; returns the file's name in the stash.
pub(super) fn replaced(setup: &Setup, place: &Place, stat: &Stat) -> Answer<Place> {
    // An open descriptor may still change the attributes, and the kernel will know no path for the descriptor.
    attributes(setup, place, stat)?;
    let stash = stash::name_beside(setup, place)?;
    parent_times(setup, place)?;
    append(setup, JournalKind::Stashed, stat, &[place.bytes(), stash.bytes()])?;
    Ok(stash)
}

/// Renames over a file: exchanges the two (a file put there in between by a parallel process is not lost), and moves
/// the replaced file to the stash. False if the file system cannot exchange: the file then has a second name there.
pub(super) fn rename_over(setup: &Setup, from: &Place, to: &Place, stash: &Place) -> Answer<bool> {
    if kernel::rename_with(from.text(), to.text(), libc::RENAME_EXCHANGE).is_ok() {
        // A parallel process of the run may have moved the file on.
        let _ = kernel::rename(from.text(), stash.text());
        discard(setup, stash);
        return Ok(true);
    }
    match kernel::link(to.text(), stash.text()).or_else(|_| kernel::rename(to.text(), stash.text())) {
        Ok(()) | Err(libc::ENOENT) => Ok(false),
        Err(number) => Err(number),
    }
}

/// Journals mode, owner and times.
pub(super) fn attributes(setup: &Setup, place: &Place, stat: &Stat) -> Answer<()> {
    let known = hash(Fact::Attributes, stat, place.bytes());
    if is_made(setup, place, stat) || setup.table.has(known) {
        return Ok(());
    }
    append(setup, JournalKind::Attributes, stat, &[place.bytes()])?;
    setup.table.add(known);
    Ok(())
}

/// A state with nothing but the time.
pub(super) fn stamped() -> Stat {
    Stat { modified: kernel::now(), ..Stat::default() }
}
