//! Notes the program's writes in the account (Note [Account] in `crates/wire/src/account.rs`).

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicI32, AtomicU8, AtomicU64, Ordering};

use wire::account::{IN_PLACE, UNSEEN};

use super::account::{Entry, RangeNumber, find_open};
use super::kernel::{self, Stat};
use super::setup::{self, Setup};
use super::{CallResult, Changed, Opening, Target};
use crate::host::prepare_free;

/// The program is Python, whose own writes call `write`: 0 before the first query, 1 if not, 2 if so.
static PYTHON: AtomicU8 = AtomicU8::new(0);
/// The number of files that this process opened to append unseen.
static UNSEEN_OPEN: AtomicU64 = AtomicU64::new(0);
/// The file number that was copied to another number: its close is not the last.
static MOVED: AtomicI32 = AtomicI32::new(-1);
/// The last own ranges of this process, and the files with a seen write, by the number of the file.
static LAST: [AtomicU64; 16] = [const { AtomicU64::new(0) }; 16];
/// The file numbers that a program gets from its parent, searched at its end.
const INHERITED: c_int = 10;

/// A change in flight; it ends when the value is dropped.
pub(super) struct Turn(Entry, usize);

impl Turn {
    fn begin(entry: Entry, bytes: usize) -> Turn {
        entry.begin(bytes);
        Turn(entry, bytes)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.end(self.1);
    }
}

/// Compares the state of a file with its account before it is opened. A truncation is in flight from now on.
pub(super) fn before_open(setup: &Setup, before: Option<&Stat>, opening: Opening) -> Option<Turn> {
    let before = before.filter(|stat| stat.is(libc::S_IFREG))?;
    match setup.account.find(before) {
        Some(entry) => entry.compare(before),
        None => setup.account.add(before)?.sample(before),
    }
    let entry = setup.account.find(before)?;
    (opening.flags & libc::O_TRUNC != 0).then(|| Turn::begin(entry, 1))
}

/// Adds an opened file to the account.
pub(super) fn after_open(setup: &Setup, opening: Opening, file: c_int) {
    let writes = opening.flags & libc::O_ACCMODE != libc::O_RDONLY || opening.flags & libc::O_TRUNC != 0;
    let Some(stat) = kernel::stat_descriptor(file).ok().filter(|stat| writes && stat.is(libc::S_IFREG)) else { return };
    let Some(entry) = setup.account.find(&stat).or_else(|| setup.account.add(&stat)) else { return };
    let is_seen = !opening.is_stream && is_python();
    if opening.flags & libc::O_APPEND == 0 {
        entry.add_flags(if is_seen { IN_PLACE } else { IN_PLACE | UNSEEN });
    } else if !is_seen {
        open_unseen(entry, stat.size, opening.is_stream);
    }
    if opening.flags & libc::O_TRUNC != 0 {
        entry.sample(&stat);
    }
}

fn open_unseen(entry: Entry, size: u64, is_stream: bool) {
    for last in &LAST {
        last.store(0, Ordering::Relaxed);
    }
    UNSEEN_OPEN.fetch_add(1, Ordering::Relaxed);
    entry.note_unseen(size, is_stream);
}

/// A helper of the program opens a file to append, at a time that no function sees.
pub(super) fn will_open(setup: &Setup, before: &Stat) {
    if let Some(entry) = setup.account.add(before) {
        entry.add_flags(UNSEEN);
    }
}

/// Makes a call that changes a file, and notes the time of the change.
pub(super) fn change<T: CallResult>(setup: &Setup, changed: &Changed, call: impl FnOnce() -> T) -> T {
    let (Changed::Content(target) | Changed::Time(target)) = changed;
    let Some(entry) = find(setup, target).map(|found| found.0) else { return call() };
    let turn = Turn::begin(entry, 1);
    let outcome = call();
    let number = kernel::errno();
    if let Some((entry, stat)) = find(setup, target) {
        match changed {
            Changed::Content(_) => {
                entry.add_flags(IN_PLACE);
                entry.sample(&stat);
            }
            Changed::Time(_) => entry.set_time(&stat),
        }
    }
    drop(turn);
    kernel::set_errno(number);
    outcome
}

fn find(setup: &Setup, target: &Target) -> Option<(Entry, Stat)> {
    match target {
        Target::Open(file) => find_open(setup.account, *file),
        Target::Path(place) => {
            // The path is guarded, and the file is perhaps written for the first time.
            let stat = place.stat().ok()?.filter(|stat| stat.is(libc::S_IFREG))?;
            setup.account.add(&stat).map(|entry| (entry, stat))
        }
    }
}

/// Writes to an open file, and notes the range and the time.
#[inline]
pub(crate) fn noted(file: c_int, bytes: usize, call: impl FnOnce() -> isize) -> isize {
    match setup::current() {
        Ok(Some(setup)) => note_write(setup, file, bytes, call),
        _ => call(),
    }
}

#[inline(never)]
fn note_write(setup: &Setup, file: c_int, bytes: usize, call: impl FnOnce() -> isize) -> isize {
    let before = kernel::errno();
    let found = find_open(setup.account, file);
    let is_appended = found.is_some() && kernel::flags(file).is_ok_and(|flags| flags & libc::O_APPEND != 0);
    kernel::set_errno(before);
    let Some((entry, _)) = found else { return call() };
    let turn = Turn::begin(entry, bytes);
    let is_alone = is_appended && entry.lock();
    kernel::set_errno(before);
    let count = call();
    let number = kernel::errno();
    if is_appended && count > 0 {
        note_append(entry, file, count as u64, is_alone);
    }
    if is_alone {
        entry.unlock();
    }
    if !is_appended && count > 0 {
        entry.add_flags(IN_PLACE);
    }
    if let Ok(stat) = kernel::stat_descriptor(file) {
        entry.sample(&stat);
    }
    drop(turn);
    kernel::set_errno(number);
    count
}

/// Notes an append: after a write, the position is the end of that write.
fn note_append(entry: Entry, file: c_int, count: u64, is_alone: bool) {
    let Some(end) = kernel::position(file).ok().filter(|end| is_alone && *end >= count) else {
        // The place of the bytes is not known.
        return entry.add_flags(UNSEEN);
    };
    let cache = &LAST[entry.number() % LAST.len()];
    let last = RangeNumber::unpack(cache.load(Ordering::Relaxed), entry.number());
    if last.is_none() {
        entry.withdraw();
    }
    match entry.note(end - count, end, last) {
        Some(number) => cache.store(number.pack(entry.number()), Ordering::Relaxed),
        None => entry.add_flags(UNSEEN),
    }
}

/// A file is mapped to memory that is shared: writes there are unseen.
pub(super) fn mapped(file: c_int) {
    if let Ok(Some(setup)) = setup::current()
        && let Some((entry, _)) = find_open(setup.account, file)
    {
        entry.add_flags(UNSEEN | IN_PLACE);
    }
}

/// A stream of the C library is made for an open file, as NumPy does.
pub(super) fn streamed(setup: &Setup, file: c_int) {
    let Some((entry, stat)) = find_open(setup.account, file) else { return };
    if kernel::flags(file).is_ok_and(|flags| flags & libc::O_APPEND != 0) {
        open_unseen(entry, stat.size, true);
    } else {
        entry.add_flags(UNSEEN);
    }
}

/// A file number is copied to another number.
pub(super) fn moved(file: c_int, to: c_int) {
    if UNSEEN_OPEN.load(Ordering::Relaxed) != 0 {
        closed(to);
        MOVED.store(file, Ordering::Relaxed);
    }
}

/// A file number is closed.
#[inline]
pub(super) fn closed(file: c_int) {
    if UNSEEN_OPEN.load(Ordering::Relaxed) != 0
        && MOVED.compare_exchange(file, -1, Ordering::Relaxed, Ordering::Relaxed).is_err()
    {
        closed_stream(file);
    }
}

/// A stream is closed, perhaps with the number of a file that the program's parent opened.
pub(super) fn closed_stream(file: c_int) {
    if let Ok(Some(setup)) = setup::current() {
        let before = kernel::errno();
        close_unseen(setup, file);
        kernel::set_errno(before);
    }
}

fn close_unseen(setup: &Setup, file: c_int) {
    if let Some((entry, stat)) = find_open(setup.account, file) {
        entry.close(stat.size);
    }
}

/// At the end of the program, ends the unseen ranges of inherited files.
extern "C" fn end() {
    if let Ok(Some(setup)) = setup::current()
        && !is_python()
    {
        // SAFETY: a null asks for all streams, which the C library writes out a moment later as well.
        unsafe { libc::fflush(std::ptr::null_mut()) };
        (0..INHERITED).for_each(|file| close_unseen(setup, file));
    }
}

#[used]
#[unsafe(link_section = ".fini_array")]
static END: extern "C" fn() = end;

/// True in a Python process.
fn is_python() -> bool {
    match PYTHON.load(Ordering::Relaxed) {
        0 => {
            // A failed `dlsym` leaves a message, which the next `dlsym` frees, also one on behalf of `free`.
            prepare_free();
            // SAFETY: `dlsym` with a name that ends with a NUL only looks tables up.
            let found: *mut c_void = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"Py_IsInitialized".as_ptr()) };
            PYTHON.store(if found.is_null() { 1 } else { 2 }, Ordering::Relaxed);
            !found.is_null()
        }
        known => known == 2,
    }
}
