//! Keeps a program from acting on processes outside the run, and on the machine.
//!
//! # Note [Other processes]
//!
//! A dry run that ends a stale process by its pid file would end a real training. The processes of the run are those below the process
//! that `OOMPH_PROCESSES` names: daemons are adopted there, so the chain of parents in `/proc/PID/stat` holds. The functions of the C
//! library answer for every other process as if it had ended (`ESRCH`), and for oomph itself, the parent that a program may look for, as if
//! it belonged to another user (`EPERM`; the signal 0 arrives).
//!
//! The kernel refuses the same where it can (Note `[Confinement]` in `crates/world/src/confine.rs`), but not changes of priority, processors
//! and limits, and with an error that few programs expect. System V objects and message queues are those of a namespace where there is
//! one; else each key and name stands for an object of the run (`objects.rs`). Descriptors that other processes send are replaced
//! (`received.rs`).
//!
//! `others` in the run directory has notes that end with a NUL, `ACT TARGET`: an act is a word of `trace::run::RefusedAct`, a target is a
//! process id or a function. `objects` has the objects to remove after the run: `shm KEY ID`, `sem KEY ID`, `msg KEY ID` or `mq NAME`.
//!
//! Nothing here locks or allocates, and `errno` is preserved: signal handlers and children after `vfork` send signals.

mod calls;
mod decide;
mod folders;
mod lineage;
mod machine;
mod messages;
mod objects;
mod queues;
mod received;
pub(crate) mod system_calls;

use std::ffi::{CStr, c_int};
use std::fmt::Display;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use wire::digest::{FNV_EMPTY, extend_fnv};

use crate::notes::note_in_run;
use crate::undo::CallResult;
use crate::undo::kernel::{errno, set_errno};

pub(crate) use folders::refuse_open;

/// `OOMPH_PROCESSES` as a C string.
const VARIABLE: &CStr = c"OOMPH_PROCESSES";
/// The state before the first call.
const UNKNOWN: c_int = -1;
/// The state of a process without a guard.
const NOBODY: c_int = 0;
/// Slots for the acts noted by this process.
const NOTES: usize = 256;

static OWNER: AtomicI32 = AtomicI32::new(UNKNOWN);
static SPARED: AtomicI32 = AtomicI32::new(0);
/// Hashes of noted acts; 0 is a free slot.
static NOTED: [AtomicU64; NOTES] = [const { AtomicU64::new(0) }; NOTES];

/// The processes of the run: those below `owner`.
#[derive(Clone, Copy)]
struct Family {
    owner: c_int,
    /// A process below the owner that is not the program's: the watchdog.
    spared: c_int,
}

/// The answer to a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reply {
    /// The call goes on.
    Pass,
    /// The call fails with this number.
    Fail(c_int),
    /// The call succeeds without effect.
    Done,
}

/// The words of the notes, as `trace::run::RefusedAct` reads them.
#[derive(Clone, Copy)]
enum Act {
    Signal,
    Query,
    Settings,
    Memory,
    Queue,
    Machine,
}

impl Act {
    fn word(self) -> &'static str {
        match self {
            Act::Signal => "signal",
            Act::Query => "query",
            Act::Settings => "settings",
            Act::Memory => "memory",
            Act::Queue => "queue",
            Act::Machine => "machine",
        }
    }
}

/// The run of this process, if guarded. One atomic load after the first call.
fn current() -> Option<Family> {
    let owner = match OWNER.load(Ordering::Acquire) {
        UNKNOWN => read_owner(),
        known => known,
    };
    (owner != NOBODY).then(|| Family { owner, spared: SPARED.load(Ordering::Relaxed) })
}

#[cold]
fn read_owner() -> c_int {
    // SAFETY: the name ends with a NUL. A program that changes the environment in another thread races with any reader.
    let value = unsafe { libc::getenv(VARIABLE.as_ptr()) };
    // SAFETY: the environment holds C strings.
    let value = if value.is_null() { c"" } else { unsafe { CStr::from_ptr(value) } };
    let mut numbers = value.to_bytes().split(|byte| *byte == b' ').map(lineage::parse_number);
    let owner = numbers.next().flatten().filter(|owner| *owner > 0).unwrap_or(NOBODY);
    SPARED.store(numbers.next().flatten().unwrap_or(0), Ordering::Relaxed);
    OWNER.store(owner, Ordering::Release);
    owner
}

/// Does work that is not the program's, without the guard. No other thread runs.
pub(crate) fn without_guard<T>(work: impl FnOnce() -> T) -> T {
    let owner = OWNER.swap(NOBODY, Ordering::AcqRel);
    let result = work();
    OWNER.store(owner, Ordering::Release);
    result
}

/// Answers a call, or makes it.
fn answer<T: CallResult>(decide: impl FnOnce(Family) -> Reply, call: impl FnOnce() -> T) -> T {
    let Some(run) = current() else { return call() };
    let before = errno();
    let reply = decide(run);
    set_errno(before);
    match reply {
        Reply::Pass => call(),
        Reply::Done => T::DONE,
        Reply::Fail(number) => {
            set_errno(number);
            T::FAILED
        }
    }
}

/// Notes a refused act, once in a process.
fn note(act: Act, target: impl Display + Copy) {
    let mut hash = Hash(extend_fnv(FNV_EMPTY, act.word().as_bytes()));
    // Hashing does not fail.
    let _ = std::fmt::write(&mut hash, format_args!("{target}"));
    let slot = &NOTED[(hash.0 % NOTES as u64) as usize];
    if slot.swap(hash.0.max(1), Ordering::Relaxed) != hash.0.max(1) {
        note_in_run(wire::file::OTHERS, format_args!("{} {target}", act.word()));
    }
}

/// A hash of the text that is written to it.
struct Hash(u64);

impl std::fmt::Write for Hash {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0 = extend_fnv(self.0, text.as_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_variable_is_that_of_the_contract() {
        assert_eq!(VARIABLE.to_str(), Ok(wire::variable::PROCESSES));
    }
}
