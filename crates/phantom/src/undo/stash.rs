//! The folder for originals, and copies into the folder.

use std::fmt::Write as _;

use super::kernel::{self, Answer, Descriptor, Stat};
use super::place::Place;
use super::record::{JournalKind, append};
use super::setup::{Buffer, Region, STASH_NAME, Setup};
use super::table::{Fact, hash};

/// A name in a stash on the mount of `place`, for a file to be moved there.
pub(super) fn name_beside(setup: &Setup, place: &Place) -> Answer<Place> {
    let parent = Place::join(&[place.parent()])?;
    let mount = mount(&parent)?.ok_or(libc::ENOENT)?;
    if setup.stash_mount == Some(mount) {
        return name(setup, &setup.stash);
    }
    let folder = folder_above(setup, place, mount)?.ok_or(libc::EXDEV)?;
    name(setup, &folder)
}

/// A name for a copy: beside the file if possible, where file systems can share blocks.
pub(super) fn name_for_copy(setup: &Setup, place: &Place) -> Answer<Place> {
    name_beside(setup, place).or_else(|_| name(setup, &setup.stash))
}

fn name(setup: &Setup, folder: &Place) -> Answer<Place> {
    let mut name = Place::join(&[folder.bytes(), b"/"])?;
    write!(name, "{}", setup.table.number()).map_err(|_| libc::ENAMETOOLONG)?;
    Ok(name)
}

fn mount(folder: &Place) -> Answer<Option<(u64, u64)>> {
    Ok(folder.stat()?.map(|stat| (stat.device, stat.mount)))
}

/// The stash in the topmost writable folder above `place` on the same mount; made if absent.
fn folder_above(setup: &Setup, place: &Place, wanted: (u64, u64)) -> Answer<Option<Place>> {
    let path = place.bytes();
    for (slash, _) in path.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
        let above = Place::join(&[if slash == 0 { b"/" } else { &path[..slash] }])?;
        if mount(&above)? != Some(wanted) {
            continue;
        }
        let separator: &[u8] = if slash == 0 { b"" } else { b"/" };
        let stash = Place::join(&[above.bytes(), separator, STASH_NAME, setup.name()])?;
        if is_usable(&stash)? || (kernel::is_writable(above.text()) && make(setup, &above, &stash)?) {
            return Ok(Some(stash));
        }
    }
    Ok(None)
}

/// True for a folder of the user: a folder of a different user is not trusted.
fn is_usable(stash: &Place) -> Answer<bool> {
    Ok(stash.stat()?.is_some_and(|stat| stat.is(libc::S_IFDIR) && stat.owner == kernel::user()))
}

/// Journals the times of a folder, once.
pub(super) fn times(setup: &Setup, folder: &Place) -> Answer<()> {
    let Some(stat) = folder.stat()? else { return Ok(()) };
    // A renamed folder may have come to a known path.
    let known = hash(Fact::Times, &stat, folder.bytes());
    if !setup.table.has(known) {
        append(setup, JournalKind::Folder, &stat, &[folder.bytes()])?;
        setup.table.add(known);
    }
    Ok(())
}

fn make(setup: &Setup, above: &Place, stash: &Place) -> Answer<bool> {
    times(setup, above)?;
    append(setup, JournalKind::Stash, &Stat::default(), &[stash.bytes()])?;
    match kernel::make_folder(stash.text()) {
        Ok(()) => Ok(true),
        Err(libc::EEXIST) => is_usable(stash),
        Err(_) => Ok(false),
    }
}

/// Copies a file's content to a fresh name, sharing blocks if the file system can. `most`: the largest real copy;
/// `EFBIG` for a larger copy.
pub(super) fn copy(place: &Place, stash: &Place, stat: &Stat, most: u64) -> Answer<()> {
    let from = kernel::open(libc::AT_FDCWD, place.text(), libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_NONBLOCK, 0)?;
    if !kernel::stat_descriptor(from.0)?.is_same(stat) {
        return Err(libc::ESTALE);
    }
    let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL;
    let to = kernel::open(libc::AT_FDCWD, stash.text(), flags, 0o600)?;
    let answer = match kernel::clone(&from, &to) {
        Ok(()) => Ok(()),
        Err(_) if stat.stored.min(stat.size) > most => Err(libc::EFBIG),
        Err(_) => copy_parts(&from, &to),
    };
    if answer.is_err() {
        // A remaining incomplete copy takes disk space, with no further harm.
        let _ = kernel::unlink(stash.text());
    }
    answer
}

/// Copies the data between holes.
fn copy_parts(from: &Descriptor, to: &Descriptor) -> Answer<()> {
    let size = kernel::seek(from, 0, libc::SEEK_END)?;
    kernel::set_length(to, size)?;
    let mut end = 0;
    while end < size {
        let start = match kernel::seek(from, end, libc::SEEK_DATA) {
            Err(libc::ENXIO) => break,
            Err(libc::EINVAL) => end,
            answer => answer?,
        };
        end = kernel::seek(from, start, libc::SEEK_HOLE).unwrap_or(size).min(size);
        kernel::seek(from, start, libc::SEEK_SET)?;
        kernel::seek(to, start, libc::SEEK_SET)?;
        copy_range(from, to, end.saturating_sub(start))?;
        if end <= start {
            break;
        }
    }
    Ok(())
}

fn copy_range(from: &Descriptor, to: &Descriptor, mut rest: u64) -> Answer<()> {
    while rest > 0 {
        match kernel::copy_range(from, to, rest) {
            Ok(count) if count > 0 => rest -= (count as u64).min(rest),
            // Some file systems refuse, or report 0 copied bytes.
            _ => return copy_bytes(from, to, rest),
        }
    }
    Ok(())
}

fn copy_bytes(from: &Descriptor, to: &Descriptor, mut rest: u64) -> Answer<()> {
    let mut buffer = Buffer::new()?;
    while rest > 0 {
        let bytes = buffer.bytes();
        let most = bytes.len().min(usize::try_from(rest).unwrap_or(usize::MAX));
        let count = match kernel::read(from, &mut bytes[..most]) {
            Err(libc::EINTR) => continue,
            answer => answer?,
        };
        if count == 0 {
            break;
        }
        let mut written = 0;
        while written < count {
            match kernel::write(to, &bytes[written..count]) {
                Err(libc::EINTR) => {}
                answer => written += answer?,
            }
        }
        rest -= count as u64;
    }
    Ok(())
}

/// The region of a path resolved by the kernel.
pub(super) fn is_guarded(setup: &Setup, place: &Place) -> Answer<bool> {
    match setup.region(place.bytes()) {
        Region::Guarded => Ok(true),
        Region::Free => Ok(false),
        Region::Ours => Err(libc::EACCES),
    }
}
