//! Journals a program's changes to files: a launcher undoes the changes after the run.
//!
//! # Note [Undo journal]
//!
//! A dry run must leave the user's files as they were. Where no namespace can be made, the program changes the real
//! files, and every change is journaled before it happens. `OOMPH_UNDO` names the folder of the journal; unset, each
//! hook costs one atomic load. `world::undo` reads the journal backwards and reverts each record.
//!
//! | file | holds |
//! |---|---|
//! | `journal` | the records (`record.rs`), each one `write(2)` in append mode |
//! | `stash` | originals: moved there, or copied |
//! | `table` | hashes shared by the processes of the run (`table.rs`) |
//! | `account` | the written ranges and times of files, shared likewise (Note `[Account]` in `crates/wire/src/account.rs`) |
//! | `exempt` | prefixes of unguarded paths, each ended by a NUL |
//! | `only` | optional: prefixes of the guarded paths |
//!
//! The launcher makes the folder and both lists; prefixes are paths without links. Originals on a different mount
//! from the folder's go to `.oomph-undo-NAME`, in the mount's topmost writable folder above, NAME being the folder's.
//!
//! - A removed or replaced file moves to the stash, or gets a second name there: the inode stays. A file changed in
//!   place is copied, once a run. Of a growing file, the length is journaled.
//! - A new path is journaled before. The table holds the inode of each made file: no made file is preserved.
//! - If an original cannot be preserved, the call fails: with `EROFS` if a copy would be larger than 1 GiB.
//! - Paths are resolved by the kernel (`/proc/self/fd`), and only the last name of a record can be a link. The records
//!   of dependent changes have the order of the changes; backwards, each path regains the earlier meaning.
//!
//! A race remains: a process opens a path with `O_TRUNC` while a second process renames an original to the path. The
//! original is truncated without being preserved.
//!
//! Signal handlers, threads and children after `fork` and `vfork` may change files at the same time: nothing here locks
//! or allocates, and `errno` is preserved.

mod account;
mod calls;
mod descriptors;
mod extended;
pub(crate) mod helpers;
pub(crate) mod kernel;
mod place;
mod preserve;
mod record;
mod setup;
mod stash;
pub(crate) mod steps;
pub(crate) mod system_calls;
mod table;
mod writes;

use std::ffi::{c_char, c_int, c_long, c_void};

use kernel::{Answer, Stat};
use place::Place;
use setup::Setup;
use table::{Fact, hash};
pub(crate) use writes::noted;

/// The rest of a call, after the journal entry.
pub(crate) enum Entry {
    /// The call goes on.
    Call,
    /// The call goes on, and makes this path.
    Make(Place),
    /// The call goes on: a file that is older than its name gets this path.
    Name(Place),
    /// The call goes on, and opens this path: with the state before, to be compared with the opened file.
    Open(Place, Option<Stat>, Opening),
    /// The call goes on, and changes a file of the account.
    Change(Changed),
    /// The call's work has been done.
    Done,
}

impl Entry {
    /// For a function without the number of an open file as the result.
    fn without_descriptor(self) -> Entry {
        match self {
            Entry::Open(place, None, _) => Entry::Make(place),
            Entry::Open(..) => Entry::Call,
            step => step,
        }
    }
}

/// The way in which a file is opened.
#[derive(Clone, Copy)]
pub(crate) struct Opening {
    pub(crate) flags: c_int,
    /// True for a stream of the C library, whose writes are unseen.
    pub(crate) is_stream: bool,
}

/// A file with another content or another time after a call.
pub(crate) enum Changed {
    Content(Target),
    /// The program sets the time of change.
    Time(Target),
}

/// A file, by its path or by its number.
#[expect(clippy::large_enum_variant, reason = "nothing here allocates")]
pub(crate) enum Target {
    Path(Place),
    Open(c_int),
}

/// The result of a C function.
pub(crate) trait CallResult: Copy {
    const FAILED: Self;
    const DONE: Self;
    fn is_failed(self) -> bool;
    /// The number of the opened file.
    fn file_number(self) -> c_int;
}

impl CallResult for c_int {
    const FAILED: c_int = -1;
    const DONE: c_int = 0;
    fn is_failed(self) -> bool {
        self < 0
    }
    fn file_number(self) -> c_int {
        self
    }
}

impl CallResult for c_long {
    const FAILED: c_long = -1;
    const DONE: c_long = 0;
    fn is_failed(self) -> bool {
        self < 0
    }
    fn file_number(self) -> c_int {
        self as c_int
    }
}

impl CallResult for *mut c_void {
    const FAILED: *mut c_void = std::ptr::null_mut();
    const DONE: *mut c_void = std::ptr::null_mut();
    fn is_failed(self) -> bool {
        self.is_null()
    }
    fn file_number(self) -> c_int {
        // SAFETY: only the steps of `fopen` and `freopen` open a file and return a pointer: an open stream.
        unsafe { libc::fileno(self.cast()) }
    }
}

/// Journals a call, then makes the call. If the step fails, the call fails.
#[inline]
pub(crate) fn guard<T: CallResult>(step: impl FnOnce(&'static Setup) -> Answer<Entry>, call: impl FnOnce() -> T) -> T {
    match setup::current() {
        Ok(None) => call(),
        Ok(Some(setup)) => guarded(setup, step, call),
        Err(number) => {
            kernel::set_errno(number);
            T::FAILED
        }
    }
}

#[inline(never)]
fn guarded<T: CallResult>(
    setup: &'static Setup,
    step: impl FnOnce(&'static Setup) -> Answer<Entry>,
    call: impl FnOnce() -> T,
) -> T {
    let before = kernel::errno();
    let start = kernel::now();
    let start = start.0.wrapping_mul(1_000_000_000).wrapping_add(i64::from(start.1));
    let step = step(setup);
    kernel::set_errno(before);
    match step {
        Ok(Entry::Call) => call(),
        Ok(Entry::Done) => T::DONE,
        Ok(Entry::Make(place)) => setup.account.making(|| after(call(), |_| remember(setup, &place, start))),
        Ok(Entry::Name(place)) => setup.account.making(|| after(call(), |_| remember(setup, &place, i64::MIN))),
        Ok(Entry::Open(place, before, opening)) => {
            let turn = writes::before_open(setup, before.as_ref(), opening);
            let open = || {
                after(call(), |outcome| {
                    let file = outcome.file_number();
                    steps::compare(setup, (&place, before.as_ref()), opening.flags, file, start);
                    writes::after_open(setup, opening, file);
                })
            };
            let outcome = if before.is_none() { setup.account.making(open) } else { open() };
            drop(turn);
            outcome
        }
        Ok(Entry::Change(changed)) => writes::change(setup, &changed, call),
        Err(number) => {
            kernel::set_errno(number);
            T::FAILED
        }
    }
}

/// Finishes a successful call.
fn after<T: CallResult>(outcome: T, finish: impl FnOnce(T)) -> T {
    if !outcome.is_failed() {
        let number = kernel::errno();
        finish(outcome);
        kernel::set_errno(number);
    }
    outcome
}

/// Adds a made file to the table. If a parallel process of the run moved an older file to the path in between, the file
/// is not the run's.
fn remember(setup: &Setup, place: &Place, start: i64) {
    let Ok(Some(stat)) = place.stat() else { return };
    if is_fresh(&stat, start) {
        setup.table.add(hash(Fact::Made, &stat, place.bytes()));
    }
}

/// True for a file with a single name and a birth after `start`. If the clock of a server is behind, no file is fresh:
/// a copy too many, without a loss.
fn is_fresh(stat: &Stat, start: i64) -> bool {
    (stat.born == 0 || stat.born >= start) && (stat.links == 1 || stat.is(libc::S_IFDIR))
}

/// Journals a path made by a C function under a name of the function's choice.
fn made_afterwards(template: *const c_char, is_folder: bool) {
    if let Ok(Some(setup)) = setup::current() {
        let before = kernel::errno();
        if let Ok(Some(place)) = Place::of(libc::AT_FDCWD, template, false) {
            // The name was chosen by the C library, and the file is there: a failure leaves a temporary file.
            let _ = steps::found(setup, &place, is_folder);
            remember(setup, &place, i64::MIN);
        }
        kernel::set_errno(before);
    }
}
