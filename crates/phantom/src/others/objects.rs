//! The System V objects and message queues of a run without a namespace for them.
//!
//! A key or a name stands for an object that the run made itself: the object of the system with that key is another's. The notes of
//! `objects` in the run directory name the objects, and oomph removes them after the run.

use std::ffi::{CStr, c_int, c_long};
use std::fmt::Write as _;

use wire::digest::{FNV_EMPTY, extend_fnv};

use super::{Act, Family, Reply, current, note};
use crate::notes::{Line, find_in_run, note_in_run};
use crate::undo::kernel::{self, Answer, errno, set_errno};

/// The most bytes of notes that are searched.
const MOST_NOTES: usize = 1 << 14;

/// A kind of System V objects.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Memory,
    Semaphores,
    Queue,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Kind::Memory => "shm",
            Kind::Semaphores => "sem",
            Kind::Queue => "msg",
        }
    }

    /// True for an object that is there: a query of its state (`IPC_STAT`).
    fn is_there(self, id: c_int) -> bool {
        let mut state = [0_u8; 256];
        let (id, command, out) = (c_long::from(id), c_long::from(libc::IPC_STAT), state.as_mut_ptr() as c_long);
        let (number, words) = match self {
            Kind::Memory => (libc::SYS_shmctl, [id, command, out, 0]),
            Kind::Semaphores => (libc::SYS_semctl, [id, 0, command, out]),
            Kind::Queue => (libc::SYS_msgctl, [id, command, out, 0]),
        };
        // The states have 112, 104 and 120 bytes (`struct shmid64_ds` and others, arch/x86, Linux 6.12).
        kernel::query_object(number, words)
    }
}

/// The run, if its objects are among those of the machine.
fn run_among_others() -> Option<Family> {
    // SAFETY: the name ends with a NUL. A program that changes the environment in another thread races with any reader.
    let guard = unsafe { libc::getenv(c"OOMPH_GUARD".as_ptr()) };
    // SAFETY: the environment holds C strings.
    let guard = if guard.is_null() { c"" } else { unsafe { CStr::from_ptr(guard) } };
    current().filter(|_| guard.to_bytes() != wire::variable::GUARD_NAMESPACE.as_bytes())
}

/// Returns the object of a key, as shmget(2) does; `make` makes one for the key that it is given.
pub(super) fn get(kind: Kind, key: c_int, flags: c_int, make: impl Fn(c_int) -> c_int) -> c_int {
    if run_among_others().is_none() {
        return make(key);
    }
    let before = errno();
    let known = if key == libc::IPC_PRIVATE { None } else { find(kind, key) };
    set_errno(before);
    match known {
        Some(_) if flags & libc::IPC_CREAT != 0 && flags & libc::IPC_EXCL != 0 => fail(libc::EEXIST),
        Some(id) => id,
        None if key != libc::IPC_PRIVATE && flags & libc::IPC_CREAT == 0 => fail(libc::ENOENT),
        None => {
            let id = make(libc::IPC_PRIVATE);
            if id >= 0 {
                note_in_run(wire::file::OBJECTS, format_args!("{} {key} {id}", kind.word()));
            }
            id
        }
    }
}

/// Calls `call` if the object is the run's; fails as for an object that is not there. `fails`: the answer of a failed call.
pub(super) fn use_object<T>(kind: Kind, id: c_int, fails: T, call: impl FnOnce() -> T) -> T {
    let before = errno();
    let reply = decide_use(kind, id);
    set_errno(before);
    let Reply::Fail(number) = reply else { return call() };
    set_errno(number);
    fails
}

/// The answer to a use of an object.
pub(super) fn decide_use(kind: Kind, id: c_int) -> Reply {
    let is_own = || search(|word, _, own| word == kind.word().as_bytes() && own == id).is_some();
    if run_among_others().is_none() || is_own() {
        return Reply::Pass;
    }
    note(Act::Queue, id);
    Reply::Fail(libc::EINVAL)
}

/// The answer to a system call with a key or a name: only the functions of the C library have objects of the run.
pub(super) fn decide_key(key: c_int) -> Reply {
    let is_free = key == libc::IPC_PRIVATE || run_among_others().is_none();
    if is_free { Reply::Pass } else { Reply::Fail(libc::ENOSYS) }
}

fn fail(number: c_int) -> c_int {
    set_errno(number);
    -1
}

/// The latest object of a key that is still there.
fn find(kind: Kind, key: c_int) -> Option<c_int> {
    search(|word, noted, id| word == kind.word().as_bytes() && noted == key && kind.is_there(id))
}

/// Searches the notes; returns the id of the last fitting one.
fn search(fits: impl Fn(&[u8], c_int, c_int) -> bool) -> Option<c_int> {
    let mut buffer = [0; MOST_NOTES];
    let notes = read(&mut buffer).unwrap_or_default();
    notes.split(|byte| *byte == 0).rev().find_map(|note| {
        let mut words = note.split(|byte| *byte == b' ');
        let word = words.next()?;
        let mut number = || std::str::from_utf8(words.next()?).ok()?.parse::<c_int>().ok();
        let (key, id) = (number()?, number()?);
        fits(word, key, id).then_some(id)
    })
}

fn read(buffer: &mut [u8]) -> Answer<&[u8]> {
    let path = find_in_run(wire::file::OBJECTS).ok_or(libc::ENOENT)?;
    let path = CStr::from_bytes_until_nul(path.bytes()).map_err(|_| libc::EINVAL)?;
    let file = kernel::open(libc::AT_FDCWD, path, libc::O_RDONLY, 0)?;
    let length = kernel::read(&file, buffer)?;
    Ok(&buffer[..length])
}

/// The name of a message queue of the run, with a NUL at the end; `None` if the name is the kernel's to judge, or no run is among others.
pub(super) fn rename_queue(name: &CStr) -> Option<Line> {
    let run = run_among_others()?;
    let name = name.to_bytes().strip_prefix(b"/").filter(|rest| !rest.is_empty() && !rest.contains(&b'/'))?;
    let folder = find_in_run("")?;
    let digest = extend_fnv(FNV_EMPTY, folder.bytes());
    let mut own = Line::default();
    // A name and two numbers are far shorter than a line.
    let _ = write!(own, "/oomph-{}-{digest:x}-", run.owner);
    own.push(name);
    own.push(b"\0");
    Some(own)
}

/// Notes a queue of the run, by its new name.
pub(super) fn note_queue(name: &Line) {
    if let Some(name) = name.bytes().strip_suffix(b"\0").and_then(|name| std::str::from_utf8(name).ok()) {
        note_in_run(wire::file::OBJECTS, format_args!("mq {name}"));
    }
}
