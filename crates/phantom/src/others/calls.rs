//! The functions of the C library that act on other processes. Each is decided on (Note [Other processes] in [`super`]), and then calls the
//! original.

use std::ffi::{CStr, c_int, c_long, c_uint, c_ulong, c_void};
use std::mem::transmute;

use super::{Act, Reply, answer, decide, messages};
use crate::host::Behind;
use crate::system_call;

/// `PRIO_PROCESS`, `PRIO_PGRP` and `PRIO_USER` (sys/resource.h).
pub(super) const PRIORITIES: [c_int; 3] = [0, 1, 2];

/// Exports functions of the C library: the decision, and the call of the next definition.
macro_rules! guarded {
    ($( fn $name:ident ( $($arg:ident : $ty:ty),* ) -> $out:ty { $decide:expr } )*) => { $(
        #[doc = concat!("`", stringify!($name), "`, for processes of the run.")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($arg: $ty),*) -> $out {
            static NEXT: Behind = Behind::new(
                match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => c"",
                },
            );
            answer($decide, || {
                // SAFETY: the address is the next definition's of this name, with equal parameters and contract: a C
                // program called this function as declared there (Note [Exports] in `boundary`).
                unsafe {
                    let next: unsafe extern "C" fn($($ty),*) -> $out = transmute(NEXT.address());
                    next($($arg),*)
                }
            })
        }
    )* };
}

guarded! {
    fn kill(pid: c_int, signal: c_int) -> c_int { |run| decide::signal(run, pid, signal) }
    fn killpg(group: c_int, signal: c_int) -> c_int {
        |run| if group < 0 { Reply::Pass } else { decide::signal(run, -group, signal) }
    }
    fn sigqueue(pid: c_int, signal: c_int, value: *mut c_void) -> c_int { |run| decide::signal_process(run, pid, signal) }
    fn setpriority(kind: c_int, who: c_uint, priority: c_int) -> c_int {
        |run| decide::set_priority(run, PRIORITIES, kind, who as c_int)
    }
    fn sched_setaffinity(pid: c_int, bytes: usize, set: *const c_void) -> c_int {
        |run| decide::reach(run, Act::Settings, pid)
    }
    fn sched_setscheduler(pid: c_int, policy: c_int, parameters: *const c_void) -> c_int {
        |run| decide::reach(run, Act::Settings, pid)
    }
    fn sched_setparam(pid: c_int, parameters: *const c_void) -> c_int { |run| decide::reach(run, Act::Settings, pid) }
    fn prlimit(pid: c_int, resource: c_int, new: *const c_void, old: *mut c_void) -> c_int {
        |run| if new.is_null() { Reply::Pass } else { decide::reach(run, Act::Settings, pid) }
    }
    fn prlimit64(pid: c_int, resource: c_int, new: *const c_void, old: *mut c_void) -> c_int {
        |run| if new.is_null() { Reply::Pass } else { decide::reach(run, Act::Settings, pid) }
    }
    fn process_vm_writev(
        pid: c_int, local: *const c_void, locals: c_ulong, remote: *const c_void, remotes: c_ulong, flags: c_ulong
    ) -> c_long {
        |run| decide::reach(run, Act::Memory, pid)
    }
    fn ptrace(request: c_long, pid: c_int, address: *mut c_void, data: *mut c_void) -> c_long {
        |run| decide::trace(run, request, pid)
    }
    fn send(socket: c_int, bytes: *const c_void, length: usize, flags: c_int) -> c_long {
        |_| messages::send(socket, bytes_of(bytes, length))
    }
    fn sendto(
        socket: c_int, bytes: *const c_void, length: usize, flags: c_int, to: *const libc::sockaddr, size: libc::socklen_t
    ) -> c_long {
        |_| messages::send(socket, bytes_of(bytes, length))
    }
    fn sendmsg(socket: c_int, message: *const libc::msghdr, flags: c_int) -> c_long {
        |_| messages::send(socket, first_part(message))
    }
}

/// The start of a message.
fn bytes_of<'a>(bytes: *const c_void, length: usize) -> &'a [u8] {
    if bytes.is_null() {
        return &[];
    }
    // SAFETY: the caller's contract is that `length` bytes are readable.
    unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), length.min(messages::HEAD_BYTES)) }
}

/// The start of the first part of a message in parts.
fn first_part<'a>(message: *const libc::msghdr) -> &'a [u8] {
    // SAFETY: the caller's contract is a readable header with so many readable parts.
    unsafe {
        match message.as_ref() {
            Some(message) if !message.msg_iov.is_null() && message.msg_iovlen > 0 => {
                bytes_of((*message.msg_iov).iov_base, (*message.msg_iov).iov_len)
            }
            _ => &[],
        }
    }
}

/// Exports functions absent from some C libraries: the exports call the kernel.
macro_rules! asked {
    ($( fn $name:ident ( $($arg:ident : $ty:ty),* ) { $decide:expr } $number:expr; )*) => { $(
        #[doc = concat!("`", stringify!($name), "`, for processes of the run.")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($arg: $ty),*) -> c_int {
            // SAFETY: the kernel checks the addresses, and the caller answers for the addresses.
            answer($decide, || unsafe { system_call::next()($number, $($arg),*) as c_int })
        }
    )* };
}

asked! {
    fn tgkill(pid: c_int, thread: c_int, signal: c_int) { |run| decide::signal_process(run, pid, signal) } libc::SYS_tgkill;
    fn pidfd_open(pid: c_int, flags: c_uint) { |run| decide::open_process(run, pid) } libc::SYS_pidfd_open;
    fn pidfd_send_signal(descriptor: c_int, signal: c_int, details: *const c_void, flags: c_uint) {
        |run| decide::signal_descriptor(run, descriptor, signal)
    } libc::SYS_pidfd_send_signal;
    fn pidfd_getfd(descriptor: c_int, number: c_int, flags: c_uint) {
        |run| decide::reach_descriptor(run, Act::Memory, descriptor)
    } libc::SYS_pidfd_getfd;
    fn sched_setattr(pid: c_int, attributes: *const c_void, flags: c_uint) {
        |run| decide::reach(run, Act::Settings, pid)
    } libc::SYS_sched_setattr;
}
