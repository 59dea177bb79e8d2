//! Sockets of this machine (unix(7)): a run without a network reaches those on which its own processes listen.

use std::ffi::c_int;
use std::fmt::Write as _;

use wire::digest::{FNV_EMPTY, extend_fnv};

use crate::notes::{Line, Path};
use crate::undo::kernel;

/// Services of the C library's lookups of users and names, and displays: a program fails without an answer.
const SERVICES: [&[u8]; 7] = [
    b"/var/run/nscd/",
    b"/run/nscd/",
    b"/var/lib/sss/",
    b"/run/systemd/userdb/",
    b"/var/run/nslcd/",
    b"/run/samba/winbindd/",
    b"/tmp/.X11-unix/",
];

/// An address of a local socket.
pub(super) struct LocalAddress {
    /// The note of the listener: `u DEVICE INODE` of a path, `a HASH` of an abstract name.
    pub(super) note: Line,
    /// True for a service on which the C library depends.
    pub(super) is_service: bool,
}

/// Identifies the listener of an address; `None` for another family, a socket without a name, and an absent path.
pub(super) fn identify(address: *const libc::sockaddr, length: libc::socklen_t) -> Option<LocalAddress> {
    let start = std::mem::offset_of!(libc::sockaddr_un, sun_path);
    let length = (length as usize).min(size_of::<libc::sockaddr_un>());
    if address.is_null() || length <= start {
        return None;
    }
    // SAFETY: by the caller's contract `length` bytes are readable; the family comes first.
    let (family, name) =
        unsafe { ((*address).sa_family, std::slice::from_raw_parts(address.cast::<u8>().add(start), length - start)) };
    if c_int::from(family) != libc::AF_UNIX {
        return None;
    }
    let mut note = Line::default();
    if name[0] == 0 {
        // A number is far shorter than a line.
        let _ = write!(note, "a {:x}", extend_fnv(FNV_EMPTY, name));
        return Some(LocalAddress { note, is_service: false });
    }
    let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
    let mut text = Line::default();
    text.push(name);
    text.push(b"\0");
    let path = Path::of(libc::AT_FDCWD, text.bytes().as_ptr().cast())?;
    let state = path.state()?;
    let _ = write!(note, "u {} {}", state.st_dev, state.st_ino);
    Some(LocalAddress { note, is_service: SERVICES.iter().any(|service| path.bytes().starts_with(service)) })
}

/// True if a socket makes connections. Datagrams are not refused.
pub(super) fn is_connecting(socket: c_int) -> bool {
    kernel::socket_option(socket, libc::SO_TYPE).is_ok_and(|kind| kind != libc::SOCK_DGRAM)
}
