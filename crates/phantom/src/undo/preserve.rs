//! The original of a file goes to the stash or into the journal, before the program changes the file.

use super::kernel::{self, Answer, Stat};
use super::place::Place;
use super::record::{RecordKind, append};
use super::setup::Setup;
use super::stash;
use super::table::{Fact, hash, path_hash};

/// The largest file that is copied.
const COPIED_BYTES: u64 = 1 << 30;
/// A file up to this size is copied before it is truncated. A larger one is moved away, which takes no time; open
/// descriptors of the program then refer to the moved file.
const SMALL_BYTES: u64 = 256 << 10;

/// True if the run made the file.
pub(super) fn is_made(setup: &Setup, place: &Place, stat: &Stat) -> bool {
    setup.table.has(hash(Fact::Made, stat, place.bytes()))
}

/// Journals the times of a folder, once.
pub(super) fn times(setup: &Setup, folder: &Place) -> Answer<()> {
    let known = path_hash(Fact::Times, folder.bytes());
    if setup.table.has(known) {
        return Ok(());
    }
    if let Some(stat) = folder.stat()? {
        append(setup, RecordKind::Folder, &stat, &[folder.bytes()])?;
    }
    setup.table.add(known);
    Ok(())
}

/// Journals the times of the folder of a path, once.
pub(super) fn parent_times(setup: &Setup, place: &Place) -> Answer<()> {
    times(setup, &Place::join(&[place.parent()])?)
}

/// Preserves a file that is about to change in place.
pub(super) fn content(setup: &Setup, place: &Place, stat: &Stat) -> Answer<()> {
    let known = hash(Fact::Content, stat, place.bytes());
    if !stat.is(libc::S_IFREG) || is_made(setup, place, stat) || setup.table.has(known) {
        return Ok(());
    }
    let stash = stash::name_for_copy(setup, place)?;
    match stash::copy(place, &stash, stat, COPIED_BYTES) {
        Err(libc::EFBIG) => {
            append(setup, RecordKind::Uncovered, stat, &[place.bytes()])?;
            return Err(libc::EROFS);
        }
        answer => answer?,
    }
    append(setup, RecordKind::Copied, stat, &[place.bytes(), stash.bytes()])?;
    setup.table.add(known);
    setup.table.add(hash(Fact::Attributes, stat, place.bytes()));
    Ok(())
}

/// Journals the length of a file that can only grow.
pub(super) fn length(setup: &Setup, place: &Place, stat: &Stat) -> Answer<()> {
    let known = [Fact::Made, Fact::Content, Fact::Length].map(|fact| hash(fact, stat, place.bytes()));
    if !stat.is(libc::S_IFREG) || known.iter().any(|hash| setup.table.has(*hash)) {
        return Ok(());
    }
    append(setup, RecordKind::Appended, stat, &[place.bytes()])?;
    setup.table.add(hash(Fact::Length, stat, place.bytes()));
    setup.table.add(hash(Fact::Attributes, stat, place.bytes()));
    Ok(())
}

/// Preserves a file that is about to be truncated.
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

/// Moves a file to the stash, and makes an empty one in its place.
fn moved(setup: &Setup, place: &Place, stat: &Stat) -> Answer<()> {
    let stash = stash::name_beside(setup, place)?;
    away(setup, place, stat, &stash)?;
    match append(setup, RecordKind::Made, &stamped(), &[place.bytes()]).and_then(|()| replacement(setup, place, stat)) {
        // Another process of the run made a file here.
        Ok(()) | Err(libc::EEXIST) => Ok(()),
        Err(_) => kernel::rename(stash.text(), place.text()),
    }
}

fn replacement(setup: &Setup, place: &Place, stat: &Stat) -> Answer<()> {
    let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL;
    let file = kernel::open(libc::AT_FDCWD, place.text(), flags, 0o600)?;
    // The group is the user's own where another is not allowed.
    let _ = kernel::set_owner(&file, stat.owner, stat.group);
    let _ = kernel::set_mode(&file, stat.mode);
    let fresh = kernel::stat_descriptor(file.0)?;
    setup.table.add(hash(Fact::Made, &fresh, place.bytes()));
    Ok(())
}

/// Moves a file to the stash.
fn away(setup: &Setup, place: &Place, stat: &Stat, stash: &Place) -> Answer<()> {
    parent_times(setup, place)?;
    append(setup, RecordKind::Stashed, stat, &[place.bytes(), stash.bytes()])?;
    kernel::rename(place.text(), stash.text())
}

/// Moves a file to the stash that the program removes. A made file is unlinked there: nobody else can put another file
/// under that name in between.
pub(super) fn removed(setup: &Setup, place: &Place, stat: &Stat) -> Answer<()> {
    let stash = stash::name_beside(setup, place)?;
    away(setup, place, stat, &stash)?;
    discard(setup, &stash);
    Ok(())
}

/// Unlinks a file of the stash that the run had made.
fn discard(setup: &Setup, stash: &Place) {
    if let Ok(Some(stat)) = stash.stat()
        && is_made(setup, stash, &stat)
    {
        // A file that stays takes room, and nothing else.
        let _ = kernel::unlink(stash.text());
    }
}

/// Journals that a file is replaced by a rename; returns its name in the stash.
pub(super) fn replaced(setup: &Setup, place: &Place, stat: &Stat) -> Answer<Place> {
    // An open descriptor may still change them, and the kernel will know no path for it.
    attributes(setup, place, stat)?;
    let stash = stash::name_beside(setup, place)?;
    parent_times(setup, place)?;
    append(setup, RecordKind::Stashed, stat, &[place.bytes(), stash.bytes()])?;
    Ok(stash)
}

/// Renames over a file: exchanges both, so that no file is lost that another process puts there in between, and moves the
/// replaced one to the stash. False if the file system cannot: the file has a second name in the stash then.
pub(super) fn rename_over(setup: &Setup, from: &Place, to: &Place, stash: &Place) -> Answer<bool> {
    if kernel::rename_with(from.text(), to.text(), libc::RENAME_EXCHANGE).is_ok() {
        // Another process of the run may have moved the file on.
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
    append(setup, RecordKind::Attributes, stat, &[place.bytes()])?;
    setup.table.add(known);
    Ok(())
}

/// A state that holds nothing but the time.
pub(super) fn stamped() -> Stat {
    Stat { modified: kernel::now(), ..Stat::default() }
}
