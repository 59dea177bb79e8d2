//! Descriptors that another process sends over a local socket (unix(7), `SCM_RIGHTS`): they lead around every guard of paths.

use std::ffi::{c_int, c_uint, c_void};
use std::mem::transmute;

use super::lineage::{Relation, read_state, relate};
use super::{Act, Family, current, note};
use crate::host::Behind;
use crate::undo::kernel::{self, errno, set_errno};

static RECVMSG: Behind = Behind::new(c"recvmsg");
static RECVMMSG: Behind = Behind::new(c"recvmmsg");

/// `recvmsg`, with the null device in place of writable files of other processes.
#[unsafe(no_mangle)]
pub extern "C" fn recvmsg(socket: c_int, message: *mut libc::msghdr, flags: c_int) -> isize {
    // SAFETY: the address is the C library's `recvmsg`, with the caller's arguments (Note [Exports] in `boundary`).
    let outcome = unsafe {
        let next: unsafe extern "C" fn(c_int, *mut libc::msghdr, c_int) -> isize = transmute(RECVMSG.address());
        next(socket, message, flags)
    };
    if outcome >= 0 {
        check(socket, message);
    }
    outcome
}

/// `recvmmsg`, likewise.
#[unsafe(no_mangle)]
pub extern "C" fn recvmmsg(
    socket: c_int,
    messages: *mut libc::mmsghdr,
    count: c_uint,
    flags: c_int,
    timeout: *mut c_void,
) -> c_int {
    // SAFETY: the address is the C library's `recvmmsg`, with the caller's arguments (Note [Exports] in `boundary`).
    let received = unsafe {
        let next: unsafe extern "C" fn(c_int, *mut libc::mmsghdr, c_uint, c_int, *mut c_void) -> c_int =
            transmute(RECVMMSG.address());
        next(socket, messages, count, flags, timeout)
    };
    for index in 0..usize::try_from(received).unwrap_or(0) {
        // SAFETY: the C library filled so many messages.
        check(socket, unsafe { &raw mut (*messages.add(index)).msg_hdr });
    }
    received
}

/// Replaces the descriptors of a received message if the sender is outside the run. The program's `errno` is preserved.
fn check(socket: c_int, message: *const libc::msghdr) {
    // SAFETY: the C library has filled the message.
    let has_control = unsafe { message.as_ref() }.is_some_and(|it| it.msg_controllen > 0);
    let Some(run) = current().filter(|_| has_control) else { return };
    let before = errno();
    if let Some(sender) = find_foreign(run, socket) {
        // SAFETY: the message is the kernel's, with whole headers.
        unsafe { visit_descriptors(message, |number| replace(number, sender)) };
    }
    set_errno(before);
}

/// The process at the other end of a local socket, if it lives outside the run. A process that has ended may have been the run's.
fn find_foreign(run: Family, socket: c_int) -> Option<c_int> {
    let peer = kernel::peer_process(socket).ok().filter(|pid| *pid > 0)?;
    (read_state(peer).is_some() && relate(run, peer) != Relation::Own).then_some(peer)
}

/// Calls `visit` with each descriptor of a message.
///
/// # Safety
/// The message has whole headers of control messages, as the kernel writes them.
unsafe fn visit_descriptors(message: *const libc::msghdr, mut visit: impl FnMut(c_int)) {
    // SAFETY: the caller answers for the message; data of `SCM_RIGHTS` are numbers, at any alignment.
    unsafe {
        let mut header = libc::CMSG_FIRSTHDR(message);
        while let Some(control) = header.as_ref() {
            if (control.cmsg_level, control.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_RIGHTS) {
                let data = libc::CMSG_DATA(header);
                let bytes = control.cmsg_len - (data as usize - header as usize);
                for index in 0..bytes / size_of::<c_int>() {
                    let bytes = data.add(index * size_of::<c_int>()).cast::<[u8; size_of::<c_int>()]>();
                    visit(c_int::from_ne_bytes(bytes.read()));
                }
            }
            header = libc::CMSG_NXTHDR(message, header);
        }
    }
}

/// Puts the null device in the place of a descriptor that can be written.
fn replace(number: c_int, sender: c_int) {
    let is_writable = kernel::flags(number).is_ok_and(|flags| flags & (libc::O_ACCMODE | libc::O_PATH) != 0);
    let is_folder = kernel::stat_descriptor(number).is_ok_and(|stat| stat.is(libc::S_IFDIR));
    if !is_writable && !is_folder {
        return;
    }
    note(Act::Memory, sender);
    if let Ok(nothing) = kernel::open(libc::AT_FDCWD, c"/dev/null", libc::O_RDWR, 0) {
        kernel::replace(number, &nothing);
    }
}
