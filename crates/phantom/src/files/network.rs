//! Notes the connections of a run, and refuses them in a run without a network.
//!
//! # Note [Connections]
//!
//! A dry run may reach other programs: a service, a tracker, a database. Its report names them, and only the first run of a command
//! may: an effect on others cannot be undone. In a world of its own a run without a network has a loop-back of its own; elsewhere
//! the functions of this file refuse (`OOMPH_OFFLINE`). Connections to ports on which a process of the run listens are free.
//!
//! `hosts` in the run directory has notes that end with a NUL: `c ADDRESS PORT` is a connection, `n NAME ADDRESS` an address that the
//! program looked up, `b PORT`, `u DEVICE INODE` or `a HASH` a port or a local socket on which the program listens.

use std::ffi::{CStr, c_char, c_int};
use std::fmt::Write as _;
use std::mem::{transmute, zeroed};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::{local, note_connection};
use crate::host::Behind;
use crate::notes::{Line, find_in_run, note_in_run, variable};

static CONNECT: Behind = Behind::new(c"connect");
static LISTEN: Behind = Behind::new(c"listen");
static GETADDRINFO: Behind = Behind::new(c"getaddrinfo");

/// `OOMPH_OFFLINE` as a C string.
const OFFLINE: &CStr = c"OOMPH_OFFLINE";
/// The most bytes of `hosts` that are searched for a port.
const MOST_NOTES: usize = 1 << 14;

/// `connect`.
#[unsafe(no_mangle)]
pub extern "C" fn connect(socket: c_int, address: *const libc::sockaddr, length: libc::socklen_t) -> c_int {
    note_connection(address, length);
    if let Some(peer) = inet(address, length) {
        if is_offline() && !(peer.ip().is_loopback() && is_own(peer.port())) {
            // SAFETY: `errno` is the thread's own.
            unsafe { *libc::__errno_location() = libc::ENETUNREACH };
            return -1;
        }
        append(format_args!("c {} {}", peer.ip(), peer.port()));
    }
    if is_offline() && is_refused(socket, address, length) {
        // SAFETY: as above.
        unsafe { *libc::__errno_location() = libc::ECONNREFUSED };
        return -1;
    }
    // SAFETY: the address is the C library's `connect`, with the caller's arguments (Note [Exports] in `boundary`).
    unsafe {
        let next: unsafe extern "C" fn(c_int, *const libc::sockaddr, libc::socklen_t) -> c_int =
            transmute(CONNECT.address());
        next(socket, address, length)
    }
}

/// `listen`.
#[unsafe(no_mangle)]
pub extern "C" fn listen(socket: c_int, backlog: c_int) -> c_int {
    // SAFETY: the address is the C library's `listen`, with the caller's arguments (Note [Exports] in `boundary`).
    let status = unsafe {
        let next: unsafe extern "C" fn(c_int, c_int) -> c_int = transmute(LISTEN.address());
        next(socket, backlog)
    };
    if status == 0 {
        note_listener(socket);
    }
    status
}

/// Notes the address of a socket on which the program listens.
fn note_listener(socket: c_int) {
    let Some((address, length)) = own_address(socket) else { return };
    let address = (&raw const address).cast();
    if let Some(own) = inet(address, length) {
        append(format_args!("b {}", own.port()));
    } else if let Some(own) = local::identify(address, length)
        && let Ok(note) = std::str::from_utf8(own.note.bytes())
    {
        append(format_args!("{note}"));
    }
}

/// True for a connection to a local socket on which no process of the run listens.
fn is_refused(socket: c_int, address: *const libc::sockaddr, length: libc::socklen_t) -> bool {
    // SAFETY: `errno` is the thread's own.
    let errno = unsafe { *libc::__errno_location() };
    let peer = local::identify(address, length).filter(|peer| !peer.is_service && local::is_connecting(socket));
    let is_refused = peer.is_some_and(|peer| !is_noted(peer.note.bytes()));
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
    is_refused
}

/// `getaddrinfo`.
#[unsafe(no_mangle)]
pub extern "C" fn getaddrinfo(
    name: *const c_char,
    service: *const c_char,
    hints: *const libc::addrinfo,
    found: *mut *mut libc::addrinfo,
) -> c_int {
    // SAFETY: the address is the C library's `getaddrinfo`, with the caller's arguments (Note [Exports] in `boundary`).
    let status = unsafe {
        let next: unsafe extern "C" fn(
            *const c_char,
            *const c_char,
            *const libc::addrinfo,
            *mut *mut libc::addrinfo,
        ) -> c_int = transmute(GETADDRINFO.address());
        next(name, service, hints, found)
    };
    if status == 0 && !name.is_null() && !found.is_null() {
        // SAFETY: the name is a C string, and after success the list is valid until the caller frees it.
        unsafe { note_names(CStr::from_ptr(name), *found) };
    }
    status
}

/// Notes the addresses of a name.
///
/// # Safety
/// `entry` is the result of a successful `getaddrinfo`.
unsafe fn note_names(name: &CStr, mut entry: *const libc::addrinfo) {
    let Ok(name) = name.to_str() else { return };
    // A name that is an address says nothing.
    if name.parse::<IpAddr>().is_ok() || name.contains(' ') {
        return;
    }
    while !entry.is_null() {
        // SAFETY: the caller answers for the list, whose entries hold an address of the stated length.
        let (address, length) = unsafe { ((*entry).ai_addr.cast_const(), (*entry).ai_addrlen) };
        if let Some(address) = inet(address, length) {
            append(format_args!("n {name} {}", address.ip()));
        }
        // SAFETY: as above.
        entry = unsafe { (*entry).ai_next };
    }
}

/// Reads an address of the Internet; `None` for another family.
fn inet(address: *const libc::sockaddr, length: libc::socklen_t) -> Option<SocketAddr> {
    if address.is_null() || (length as usize) < size_of::<libc::sockaddr_in>() {
        return None;
    }
    // SAFETY: the caller's contract is that `length` bytes are readable, which are enough for the family and an IPv4 address.
    let family = c_int::from(unsafe { (*address).sa_family });
    match family {
        libc::AF_INET => {
            // SAFETY: as above.
            let inet = unsafe { address.cast::<libc::sockaddr_in>().read_unaligned() };
            let ip = Ipv4Addr::from(u32::from_be(inet.sin_addr.s_addr));
            Some(SocketAddr::from((ip, u16::from_be(inet.sin_port))))
        }
        libc::AF_INET6 if length as usize >= size_of::<libc::sockaddr_in6>() => {
            // SAFETY: the length was compared with the size of an IPv6 address.
            let inet = unsafe { address.cast::<libc::sockaddr_in6>().read_unaligned() };
            let ip = IpAddr::from(Ipv6Addr::from(inet.sin6_addr.s6_addr)).to_canonical();
            Some(SocketAddr::from((ip, u16::from_be(inet.sin6_port))))
        }
        _ => None,
    }
}

/// Returns the address to which a socket is bound, and its length.
fn own_address(socket: c_int) -> Option<(libc::sockaddr_storage, libc::socklen_t)> {
    // SAFETY: all-zero bytes are an address of no family; the kernel writes at most `length` bytes.
    let (status, address, length) = unsafe {
        let mut address: libc::sockaddr_storage = zeroed();
        let mut length = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
        let status = libc::getsockname(socket, (&raw mut address).cast(), &raw mut length);
        (status, address, length)
    };
    (status == 0).then_some((address, length))
}

fn is_offline() -> bool {
    variable(OFFLINE).is_some_and(|value| value.to_bytes() == b"1")
}

/// True if a process of the run listens on a port of the loop-back.
fn is_own(port: u16) -> bool {
    let mut wanted = Line::default();
    let _ = write!(wanted, "b {port}");
    is_noted(wanted.bytes())
}

/// True if a listener was noted.
fn is_noted(wanted: &[u8]) -> bool {
    let Some(path) = find_in_run(wire::file::HOSTS) else { return false };
    let mut bytes = [0_u8; MOST_NOTES];
    // SAFETY: the path is a C string, and the kernel writes at most so many bytes into the buffer.
    let read = unsafe {
        let file = libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path.bytes().as_ptr(), libc::O_RDONLY);
        let read = libc::syscall(libc::SYS_read, file, bytes.as_mut_ptr(), MOST_NOTES);
        libc::syscall(libc::SYS_close, file);
        read
    };
    let notes = bytes.get(..usize::try_from(read).unwrap_or_default()).unwrap_or_default();
    notes.split(|byte| *byte == 0).any(|note| note == wanted)
}

/// Appends a note on a connection.
fn append(text: std::fmt::Arguments) {
    note_in_run(wire::file::HOSTS, text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_variable_is_that_of_the_contract() {
        assert_eq!(OFFLINE.to_str(), Ok(wire::variable::OFFLINE));
    }
}
