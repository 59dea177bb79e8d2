//! The journal entries of each kind of call.

use std::ffi::{CStr, c_char, c_int, c_uint};

use super::kernel::{self, Answer, Stat};
use super::place::Place;
use super::preserve::{self, stamped};
use super::record::{JournalKind, append};
use super::setup::{Region, Setup};
use super::stash::is_guarded;
use super::{Changed, Entry, Fact, Opening, Target, hash, writes};

const HERE: c_int = libc::AT_FDCWD;
/// Times that a file is preserved anew because another came to its place.
const TURNS: usize = 16;

/// Resolves a guarded path; `None` if the change passes.
fn guarded(setup: &Setup, folder: c_int, path: *const c_char, follows: bool) -> Answer<Option<Place>> {
    let Some(place) = Place::of(folder, path, follows)? else { return Ok(None) };
    Ok(is_guarded(setup, &place)?.then_some(place))
}

/// The same with the state, for a path that exists.
fn present(setup: &Setup, folder: c_int, path: *const c_char, follows: bool) -> Answer<Option<(Place, Stat)>> {
    let Some(place) = guarded(setup, folder, path, follows)? else { return Ok(None) };
    Ok(place.stat()?.map(|stat| (place, stat)))
}

/// A file is opened.
pub(crate) fn open(setup: &Setup, folder: c_int, path: *const c_char, flags: c_int) -> Answer<Entry> {
    open_as(setup, folder, path, Opening { flags, is_stream: false })
}

/// A stream of the C library is opened, with a mode of `fopen`.
pub(crate) fn open_stream(setup: &Setup, path: *const c_char, mode: *const c_char) -> Answer<Entry> {
    open_as(setup, HERE, path, Opening { flags: mode_flags(mode), is_stream: true })
}

/// A helper is going to open a file.
pub(crate) fn open_later(setup: &Setup, path: *const c_char, flags: c_int) -> Answer<Entry> {
    match open(setup, HERE, path, flags)? {
        Entry::Open(_, Some(before), _) => writes::will_open(setup, &before),
        Entry::Open(place, None, _) => {
            setup.table.add(hash(Fact::MadeLater, &Stat::default(), place.bytes()));
        }
        _ => {}
    }
    Ok(Entry::Call)
}

fn open_as(setup: &Setup, folder: c_int, path: *const c_char, opening: Opening) -> Answer<Entry> {
    let flags = opening.flags;
    let has = |flag: c_int| flags & flag == flag;
    let writes = flags & libc::O_ACCMODE != libc::O_RDONLY || has(libc::O_TRUNC);
    let is_new = has(libc::O_CREAT | libc::O_EXCL);
    if has(libc::O_PATH) || has(libc::O_TMPFILE) || !(writes || has(libc::O_CREAT)) {
        return Ok(Entry::Call);
    }
    let follows = !has(libc::O_NOFOLLOW) && !is_new;
    let Some(place) = guarded(setup, folder, path, follows)? else { return Ok(Entry::Call) };
    for _ in 0..TURNS {
        let stat = match place.stat()? {
            None if has(libc::O_CREAT) => {
                announce(setup, &place, JournalKind::Made)?;
                return Ok(Entry::Open(place, None, opening));
            }
            Some(stat) if writes && !is_new && stat.is(libc::S_IFREG) => stat,
            _ => return Ok(Entry::Call),
        };
        match change(setup, &place, &stat, flags) {
            // Another process of the run was faster, and another file is there now.
            Err(libc::ESTALE | libc::ENOENT) => {}
            Err(number) => return Err(number),
            Ok(()) => return Ok(Entry::Open(place, Some(stat), opening)),
        }
    }
    Err(libc::EBUSY)
}

/// Compares the opened file with the journaled one: a process of the run may have put another file there in between, or
/// removed the file, so that the call made a new one.
pub(super) fn compare(setup: &Setup, (place, before): (&Place, Option<&Stat>), flags: c_int, file: c_int, start: i64) {
    let Ok(stat) = kernel::stat_descriptor(file) else { return };
    if before.is_some_and(|before| before.is_same(&stat)) || preserve::is_made(setup, place, &stat) {
        return;
    }
    let Ok(opened) = Place::of_descriptor(file) else { return };
    let is_fresh = super::is_fresh(&stat, start);
    if is_fresh && (before.is_some() || opened.bytes() != place.bytes()) {
        // A failure leaves a race undecided; the file is open by now.
        let _ = append(setup, JournalKind::Made, &stamped(), &[opened.bytes()]);
    }
    if is_fresh {
        setup.table.add(hash(Fact::Made, &stat, opened.bytes()));
    } else {
        let _ = change(setup, &opened, &stat, flags & !libc::O_TRUNC);
    }
}

fn change(setup: &Setup, place: &Place, stat: &Stat, flags: c_int) -> Answer<()> {
    let grows = flags & libc::O_APPEND != 0;
    if flags & libc::O_TRUNC != 0 {
        preserve::truncated(setup, place, stat)
    } else if grows && flags & libc::O_ACCMODE == libc::O_WRONLY {
        preserve::length(setup, place, stat)
    } else {
        match preserve::content(setup, place, stat) {
            Err(libc::EROFS) if grows => preserve::length(setup, place, stat),
            answer => answer,
        }
    }
}

/// The flags of a mode of `fopen`.
pub(crate) fn mode_flags(mode: *const c_char) -> c_int {
    // SAFETY: `fopen` asks for a string.
    let mode = if mode.is_null() { &[] } else { unsafe { CStr::from_ptr(mode) }.to_bytes() };
    // Behind a comma, the mode names an encoding.
    let mode = mode.split(|byte| *byte == b',').next().unwrap_or_default();
    let access = if mode.contains(&b'+') { libc::O_RDWR } else { libc::O_WRONLY };
    let exclusive = if mode.contains(&b'x') { libc::O_EXCL } else { 0 };
    match mode.first() {
        Some(b'w') => access | exclusive | libc::O_CREAT | libc::O_TRUNC,
        Some(b'a') => access | exclusive | libc::O_CREAT | libc::O_APPEND,
        Some(b'r') if access == libc::O_RDWR => access,
        _ => libc::O_RDONLY,
    }
}

/// A file gets another length, by its path.
pub(crate) fn truncate(setup: &Setup, path: *const c_char) -> Answer<Entry> {
    let Some((place, stat)) = present(setup, HERE, path, true)? else { return Ok(Entry::Call) };
    preserve::content(setup, &place, &stat)?;
    Ok(Entry::Change(Changed::Content(Target::Path(place))))
}

/// An open file is changed by a function without a journal entry: its opening has one.
pub(crate) fn content_of(file: c_int) -> Entry {
    Entry::Change(Changed::Content(Target::Open(file)))
}

/// `ftruncate`: only a file that was opened to grow is not preserved yet.
pub(crate) fn truncate_descriptor(setup: &Setup, file: c_int) -> Answer<Entry> {
    if kernel::flags(file).is_ok_and(|flags| flags & libc::O_APPEND != 0)
        && let Some((place, stat)) = of_descriptor(setup, file, Fact::Content)?
    {
        preserve::content(setup, &place, &stat)?;
    }
    Ok(content_of(file))
}

fn make(setup: &Setup, place: Place, kind: JournalKind) -> Answer<Entry> {
    announce(setup, &place, kind)?;
    Ok(Entry::Make(place))
}

fn announce(setup: &Setup, place: &Place, kind: JournalKind) -> Answer<()> {
    preserve::parent_times(setup, place)?;
    append(setup, kind, &stamped(), &[place.bytes()])
}

/// A file, a link, a socket or a folder is made.
pub(crate) fn make_path(setup: &Setup, folder: c_int, path: *const c_char, is_folder: bool) -> Answer<Entry> {
    let kind = if is_folder { JournalKind::MadeFolder } else { JournalKind::Made };
    match guarded(setup, folder, path, false)? {
        Some(place) if place.stat()?.is_none() => make(setup, place, kind),
        _ => Ok(Entry::Call),
    }
}

/// A file or a folder is made under a name that the C library is going to choose.
pub(crate) fn make_in_folder(setup: &Setup, template: *const c_char) -> Answer<Entry> {
    if let Some(place) = guarded(setup, HERE, template, false)? {
        preserve::parent_times(setup, &place)?;
    }
    Ok(Entry::Call)
}

/// A file or a folder was made under such a name.
pub(super) fn found(setup: &Setup, place: &Place, is_folder: bool) -> Answer<()> {
    if is_guarded(setup, place)? {
        let kind = if is_folder { JournalKind::MadeFolder } else { JournalKind::Made };
        append(setup, kind, &stamped(), &[place.bytes()])?;
    }
    Ok(())
}

/// A file gets a second name.
pub(crate) fn link(
    setup: &Setup,
    from: (c_int, *const c_char),
    to: (c_int, *const c_char),
    flags: c_int,
) -> Answer<Entry> {
    let Some(place) = guarded(setup, to.0, to.1, false)? else { return Ok(Entry::Call) };
    if place.stat()?.is_some() {
        return Ok(Entry::Call);
    }
    // A file without a name, from `O_TMPFILE`, has a number in place of a path.
    let stat = if flags & libc::AT_EMPTY_PATH != 0 {
        kernel::stat_descriptor(from.0).ok()
    } else {
        match Place::of(from.0, from.1, flags & libc::AT_SYMLINK_FOLLOW != 0)? {
            Some(place) => place.stat()?,
            None => return Ok(Entry::Call),
        }
    };
    preserve::parent_times(setup, &place)?;
    match stat {
        Some(stat) if stat.links > 0 => append(setup, JournalKind::Link, &stat, &[place.bytes()])?,
        Some(stat) => {
            append(setup, JournalKind::Made, &stamped(), &[place.bytes()])?;
            // The file is older than its name.
            setup.table.add(hash(Fact::Made, &stat, place.bytes()));
        }
        None => {
            append(setup, JournalKind::Made, &stamped(), &[place.bytes()])?;
            return Ok(Entry::Name(place));
        }
    }
    Ok(Entry::Call)
}

/// A file or a folder is removed.
pub(crate) fn remove(setup: &Setup, folder: c_int, path: *const c_char, what: Removal) -> Answer<Entry> {
    let Some((place, stat)) = present(setup, folder, path, false)? else { return Ok(Entry::Call) };
    let is_folder = stat.is(libc::S_IFDIR);
    if (is_folder && what == Removal::File) || (!is_folder && what == Removal::Folder) {
        return Ok(Entry::Call);
    }
    preserve::parent_times(setup, &place)?;
    if is_folder {
        // A made folder too: an earlier rename out of it is reverted into it.
        append(setup, JournalKind::RemovedFolder, &stat, &[place.bytes()])?;
        return Ok(Entry::Call);
    }
    preserve::removed(setup, &place, &stat)?;
    Ok(Entry::Done)
}

/// The kinds of files that a call removes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Removal {
    File,
    Folder,
    Any,
}

impl Removal {
    pub(crate) fn of_flags(flags: c_int) -> Removal {
        if flags & libc::AT_REMOVEDIR == 0 { Removal::File } else { Removal::Folder }
    }
}

/// A path is renamed.
pub(crate) fn rename(
    setup: &Setup,
    from: (c_int, *const c_char),
    to: (c_int, *const c_char),
    flags: c_uint,
) -> Answer<Entry> {
    let Some(source) = Place::of(from.0, from.1, false)? else { return Ok(Entry::Call) };
    let Some(target) = Place::of(to.0, to.1, false)? else { return Ok(Entry::Call) };
    let regions = [setup.region(source.bytes()), setup.region(target.bytes())];
    if regions.contains(&Region::Ours) {
        return Err(libc::EACCES);
    }
    let Some(stat) = source.stat()? else { return Ok(Entry::Call) };
    if regions == [Region::Free; 2] || are_apart(&source, &target)? {
        return Ok(Entry::Call);
    }
    for _ in 0..TURNS {
        let present = target.stat()?;
        if present.is_some_and(|present| present.is_same(&stat)) {
            return Ok(Entry::Call);
        }
        let is_free = setup.region(target.bytes()) == Region::Free;
        match rename_once(setup, (&source, &stat), (&target, present), flags, is_free) {
            // Another process of the run was faster.
            Err(libc::EEXIST) if flags & libc::RENAME_NOREPLACE == 0 => {}
            answer => return answer,
        }
    }
    Err(libc::EBUSY)
}

fn rename_once(
    setup: &Setup,
    (source, stat): (&Place, &Stat),
    (target, present): (&Place, Option<Stat>),
    flags: c_uint,
    is_free: bool,
) -> Answer<Entry> {
    let is_exchange = flags & libc::RENAME_EXCHANGE != 0;
    preserve::parent_times(setup, source)?;
    preserve::parent_times(setup, target)?;
    let stash = match present {
        // The journal knows a folder by its path: two folders that change places are refused, as by a file system without exchanges.
        Some(present) if is_exchange && (present.is(libc::S_IFDIR) || stat.is(libc::S_IFDIR)) => {
            return Err(libc::EINVAL);
        }
        Some(_) if is_exchange => None,
        // The kernel refuses the exchange.
        None if is_exchange => return Ok(Entry::Call),
        Some(present) if flags & libc::RENAME_NOREPLACE != 0 || present.is(libc::S_IFDIR) != stat.is(libc::S_IFDIR) => {
            return Ok(Entry::Call);
        }
        Some(present) if present.is(libc::S_IFDIR) => {
            append(setup, JournalKind::RemovedFolder, &present, &[target.bytes()])?;
            None
        }
        Some(present) if !is_free => Some(preserve::replaced(setup, target, &present)?),
        _ => None,
    };
    let kind = if is_exchange { JournalKind::Exchanged } else { JournalKind::Renamed };
    append(setup, kind, stat, &[source.bytes(), target.bytes()])?;
    let is_done = match stash {
        Some(stash) => preserve::rename_over(setup, source, target, &stash)?,
        None if present.is_some() || flags != 0 => false,
        None => match kernel::rename_with(source.text(), target.text(), libc::RENAME_NOREPLACE) {
            Err(libc::EINVAL) => false,
            answer => answer.map(|()| true)?,
        },
    };
    Ok(if is_done { Entry::Done } else { Entry::Call })
}

/// True for paths on two mounts, between which nothing is renamed.
fn are_apart(one: &Place, other: &Place) -> Answer<bool> {
    let mount =
        |place: &Place| Place::join(&[place.parent()])?.stat().map(|stat| stat.map(|stat| (stat.device, stat.mount)));
    Ok(mount(one)? != mount(other)?)
}

/// Mode, owner or times of a path are changed.
pub(crate) fn attributes(setup: &Setup, folder: c_int, path: *const c_char, follows: bool) -> Answer<Entry> {
    if let Some((place, stat)) = present(setup, folder, path, follows)? {
        preserve::attributes(setup, &place, &stat)?;
    }
    Ok(Entry::Call)
}

/// The times of a path are changed.
pub(crate) fn times(setup: &Setup, folder: c_int, path: *const c_char, follows: bool) -> Answer<Entry> {
    let Some((place, stat)) = present(setup, folder, path, follows)? else { return Ok(Entry::Call) };
    preserve::attributes(setup, &place, &stat)?;
    Ok(Entry::Change(Changed::Time(Target::Path(place))))
}

/// The times of an open file are changed.
pub(crate) fn descriptor_times(setup: &Setup, file: c_int) -> Answer<Entry> {
    descriptor_attributes(setup, file)?;
    Ok(Entry::Change(Changed::Time(Target::Open(file))))
}

/// Mode, owner or times of an open file are changed.
pub(crate) fn descriptor_attributes(setup: &Setup, file: c_int) -> Answer<Entry> {
    if let Some((place, stat)) = of_descriptor(setup, file, Fact::Attributes)? {
        preserve::attributes(setup, &place, &stat)?;
    }
    Ok(Entry::Call)
}

/// An extended attribute of a path is changed.
pub(crate) fn extended(setup: &Setup, path: *const c_char, name: *const c_char, follows: bool) -> Answer<Entry> {
    if let Some((place, stat)) = present(setup, HERE, path, follows)? {
        super::extended::preserve(setup, &place, &stat, name)?;
    }
    Ok(Entry::Call)
}

/// An extended attribute of an open file is changed.
pub(crate) fn descriptor_extended(setup: &Setup, file: c_int, name: *const c_char) -> Answer<Entry> {
    if let Some((place, stat)) = of_descriptor(setup, file, Fact::Made)? {
        super::extended::preserve(setup, &place, &stat, name)?;
    }
    Ok(Entry::Call)
}

/// The path of an open file, which may be in the stash; `None` if changes pass, or are covered by `fact`.
fn of_descriptor(setup: &Setup, file: c_int, fact: Fact) -> Answer<Option<(Place, Stat)>> {
    let (Ok(stat), Ok(place)) = (kernel::stat_descriptor(file), Place::of_descriptor(file)) else { return Ok(None) };
    let is_named = place.stat()?.is_some_and(|named| named.is_same(&stat));
    let is_covered = [Fact::Made, fact].iter().any(|fact| setup.table.has(hash(*fact, &stat, place.bytes())));
    if is_covered || setup.region(place.bytes()) == Region::Free {
        return Ok(None);
    }
    match stat.links {
        _ if is_named => Ok(Some((place, stat))),
        0 => Ok(None),
        // The file has other names, which the kernel does not tell.
        _ => Err(libc::EROFS),
    }
}
