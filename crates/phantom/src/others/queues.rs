//! The functions of System V objects and message queues (Note [Other processes] in [`super`]).

use std::ffi::{CStr, c_char, c_int, c_long, c_uint, c_void};
use std::mem::transmute;

use super::objects::{self, Kind};
use crate::host::Behind;

/// Exports functions: `$call` is the next definition with the same arguments.
macro_rules! exported {
    ($( fn $name:ident ( $($arg:ident : $ty:ty),* ) -> $out:ty { |$call:ident| $body:expr } )*) => { $(
        #[doc = concat!("`", stringify!($name), "`, for objects of the run.")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($arg: $ty),*) -> $out {
            static NEXT: Behind = Behind::new(
                match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => c"",
                },
            );
            let $call = |$($arg: $ty),*| {
                // SAFETY: the address is the next definition's of this name, with equal parameters and contract: a C
                // program called this function as declared there (Note [Exports] in `boundary`).
                unsafe {
                    let next: unsafe extern "C" fn($($ty),*) -> $out = transmute(NEXT.address());
                    next($($arg),*)
                }
            };
            $body
        }
    )* };
}

exported! {
    fn shmget(key: c_int, bytes: usize, flags: c_int) -> c_int {
        |call| objects::get(Kind::Memory, key, flags, |key| call(key, bytes, flags))
    }
    fn shmat(id: c_int, address: *const c_void, flags: c_int) -> c_long {
        |call| objects::use_object(Kind::Memory, id, -1, || call(id, address, flags))
    }
    fn shmctl(id: c_int, command: c_int, state: *mut c_void) -> c_int {
        |call| change(Kind::Memory, id, command, || call(id, command, state))
    }
    fn semget(key: c_int, count: c_int, flags: c_int) -> c_int {
        |call| objects::get(Kind::Semaphores, key, flags, |key| call(key, count, flags))
    }
    fn semop(id: c_int, steps: *mut c_void, count: usize) -> c_int {
        |call| objects::use_object(Kind::Semaphores, id, -1, || call(id, steps, count))
    }
    fn semtimedop(id: c_int, steps: *mut c_void, count: usize, timeout: *const c_void) -> c_int {
        |call| objects::use_object(Kind::Semaphores, id, -1, || call(id, steps, count, timeout))
    }
    fn semctl(id: c_int, index: c_int, command: c_int, argument: *mut c_void) -> c_int {
        |call| change(Kind::Semaphores, id, command, || call(id, index, command, argument))
    }
    fn msgget(key: c_int, flags: c_int) -> c_int {
        |call| objects::get(Kind::Queue, key, flags, |key| call(key, flags))
    }
    fn msgsnd(id: c_int, message: *const c_void, bytes: usize, flags: c_int) -> c_int {
        |call| objects::use_object(Kind::Queue, id, -1, || call(id, message, bytes, flags))
    }
    fn msgrcv(id: c_int, message: *mut c_void, bytes: usize, kind: c_long, flags: c_int) -> c_long {
        |call| objects::use_object(Kind::Queue, id, -1, || call(id, message, bytes, kind, flags))
    }
    fn msgctl(id: c_int, command: c_int, state: *mut c_void) -> c_int {
        |call| change(Kind::Queue, id, command, || call(id, command, state))
    }
    fn mq_open(name: *const c_char, flags: c_int, mode: c_uint, attributes: *const c_void) -> c_int {
        |call| with_own_name(name, |name| call(name, flags, mode, attributes))
    }
    fn mq_unlink(name: *const c_char) -> c_int { |call| with_own_name(name, call) }
}

/// Queries of states pass: `IPC_STAT`, and all that the commands of one list read (`SHM_INFO` and others have numbers of 3 and more).
fn change(kind: Kind, id: c_int, command: c_int, call: impl FnOnce() -> c_int) -> c_int {
    const SET_VALUES: [c_int; 2] = [libc::SETVAL, libc::SETALL];
    let is_change = [libc::IPC_RMID, libc::IPC_SET].contains(&command)
        || matches!(kind, Kind::Semaphores) && SET_VALUES.contains(&command)
        || matches!(kind, Kind::Memory) && [libc::SHM_LOCK, libc::SHM_UNLOCK].contains(&command);
    if is_change { objects::use_object(kind, id, -1, call) } else { call() }
}

/// Calls with the run's own name of a queue.
fn with_own_name(name: *const c_char, call: impl FnOnce(*const c_char) -> c_int) -> c_int {
    // SAFETY: the pointer is not null, and the called C function asks for a string.
    let own = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }).and_then(objects::rename_queue);
    let Some(own) = own else { return call(name) };
    let outcome = call(own.bytes().as_ptr().cast());
    if outcome > 0 {
        objects::note_queue(&own);
    }
    outcome
}
