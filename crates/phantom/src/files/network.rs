//! Notes the connections of a run, and refuses them in a run without a network.
//!
//! # Note [Connections]
//!
//! A dry run may reach other programs: a service, a tracker, a database. Its report names them, and only the first run of a command
//! may: an effect on others cannot be undone. In a world of its own a run without a network has a loop-back of its own; elsewhere
//! the functions of this file refuse (`OOMPH_OFFLINE`). Connections to ports on which a process of the run listens are free.
//!
//! `hosts` in the run directory has notes that end with a NUL: `c ADDRESS PORT` is a connection, `n NAME ADDRESS` an address that the
//! program looked up, `b PORT` a port on which the program listens.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fmt::Write as _;
use std::mem::{transmute, zeroed};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::line::Line;
use super::{PATH_BYTES, note_connection};
use crate::host::Behind;

static CONNECT: Behind = Behind::new(c"connect");
static LISTEN: Behind = Behind::new(c"listen");
static GETADDRINFO: Behind = Behind::new(c"getaddrinfo");

/// `OOMPH_RUN_DIR` as a C string.
const RUN_DIR: &CStr = c"OOMPH_RUN_DIR";
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
    if status == 0
        && let Some(own) = own_address(socket)
    {
        append(format_args!("b {}", own.port()));
    }
    status
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

/// Returns the address to which a socket is bound.
fn own_address(socket: c_int) -> Option<SocketAddr> {
    // SAFETY: all-zero bytes are an address of no family; the kernel writes at most `length` bytes.
    let (status, address, length) = unsafe {
        let mut address: libc::sockaddr_storage = zeroed();
        let mut length = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
        let status = libc::getsockname(socket, (&raw mut address).cast(), &raw mut length);
        (status, address, length)
    };
    if status == 0 { inet((&raw const address).cast(), length) } else { None }
}

fn is_offline() -> bool {
    variable(OFFLINE).is_some_and(|value| value.to_bytes() == b"1")
}

/// True if a process of the run listens on a port of the loop-back.
fn is_own(port: u16) -> bool {
    let Some(path) = find_in_run(wire::file::HOSTS) else { return false };
    let mut bytes = [0_u8; MOST_NOTES];
    // SAFETY: the path is a C string, and the kernel writes at most so many bytes into the buffer.
    let read = unsafe {
        let file = libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path.bytes().as_ptr(), libc::O_RDONLY);
        let read = libc::syscall(libc::SYS_read, file, bytes.as_mut_ptr(), MOST_NOTES);
        libc::syscall(libc::SYS_close, file);
        read
    };
    let mut wanted = Line::default();
    let _ = write!(wanted, "b {port}");
    let notes = bytes.get(..usize::try_from(read).unwrap_or_default()).unwrap_or_default();
    notes.split(|byte| *byte == 0).any(|note| note == wanted.bytes())
}

/// Appends a note on a connection.
fn append(text: std::fmt::Arguments) {
    note_in_run(wire::file::HOSTS, text);
}

/// Appends a note to a file of the run directory, if the run is recorded. The program's `errno` is preserved.
pub(crate) fn note_in_run(file: &str, text: std::fmt::Arguments) {
    let Some(path) = find_in_run(file) else { return };
    // SAFETY: `errno` is the thread's own.
    let errno = unsafe { *libc::__errno_location() };
    let mut line = Line::default();
    // A note is far shorter than a line.
    let _ = line.write_fmt(text);
    line.end(path.bytes().as_ptr().cast());
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

/// The path of a file of the run directory, with a NUL; `None` in a process whose run is not recorded.
pub(crate) fn find_in_run(file: &str) -> Option<Line> {
    let folder = variable(RUN_DIR)?.to_bytes();
    let mut path = Line::default();
    if folder.len() + file.len() + 2 > PATH_BYTES {
        return None;
    }
    path.push(folder);
    path.push(b"/");
    path.push(file.as_bytes());
    path.push(b"\0");
    Some(path)
}

/// Looks a variable up. A program that changes the environment in another thread races with any reader.
fn variable(name: &CStr) -> Option<&'static CStr> {
    // SAFETY: the name is a C string; the environment holds C strings.
    unsafe {
        let value: *const c_char = libc::getenv(name.as_ptr());
        (!value.cast::<c_void>().is_null()).then(|| CStr::from_ptr(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_variables_are_those_of_the_contract() {
        assert_eq!(RUN_DIR.to_str(), Ok(wire::variable::RUN_DIR));
        assert_eq!(OFFLINE.to_str(), Ok(wire::variable::OFFLINE));
    }
}
