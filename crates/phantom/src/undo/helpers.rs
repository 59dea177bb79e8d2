//! Arguments other than paths: socket addresses, names of shared memory, helper programs.

use std::ffi::{CStr, c_char, c_int, c_long};

use super::Entry;
use super::kernel::{Answer, Stat};
use super::place::Place;
use super::record::{JournalKind, append};
use super::setup::Setup;
use super::steps::{self, Removal};

const HERE: c_int = libc::AT_FDCWD;

/// A socket gets an address, possibly a path.
pub(crate) fn bind(setup: &Setup, address: *const libc::sockaddr, length: libc::socklen_t) -> Answer<Entry> {
    let start = std::mem::offset_of!(libc::sockaddr_un, sun_path);
    let length = (length as usize).min(size_of::<libc::sockaddr_un>());
    if address.is_null() || length <= start {
        return Ok(Entry::Call);
    }
    // SAFETY: by the caller's contract `length` bytes are readable; the family comes first.
    let (family, bytes) =
        unsafe { ((*address).sa_family, std::slice::from_raw_parts(address.cast::<u8>().add(start), length - start)) };
    let name = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    // A name with a NUL at the start is no path.
    if c_int::from(family) != libc::AF_UNIX || name.is_empty() {
        return Ok(Entry::Call);
    }
    steps::make_path(setup, HERE, Place::join(&[name])?.text().as_ptr(), false)
}

/// Shared memory or a semaphore is opened: `prefix` is the folder, and the start of the name.
pub(super) fn open_shared(setup: &Setup, prefix: &[u8], name: *const c_char, flags: c_int) -> Answer<Entry> {
    match shared(prefix, name)? {
        Some(place) => steps::open(setup, HERE, place.text().as_ptr(), flags),
        None => Ok(Entry::Call),
    }
}

pub(super) fn remove_shared(setup: &Setup, prefix: &[u8], name: *const c_char) -> Answer<Entry> {
    match shared(prefix, name)? {
        Some(place) => steps::remove(setup, HERE, place.text().as_ptr(), Removal::File),
        None => Ok(Entry::Call),
    }
}

fn shared(prefix: &[u8], name: *const c_char) -> Answer<Option<Place>> {
    if name.is_null() {
        return Ok(None);
    }
    // SAFETY: the pointer is not null, and the called C function asks for a string.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    let name = name.iter().position(|byte| *byte != b'/').map_or(&[][..], |start| &name[start..]);
    if name.is_empty() || name.contains(&b'/') {
        return Ok(None);
    }
    Place::join(&[prefix, name]).map(Some)
}

/// The flags of `openat2` (`struct open_how`); `O_RDONLY` if the structure is absent or too short.
pub(super) fn open_flags(how: c_long, size: c_long) -> c_int {
    if how == 0 || (size as usize) < size_of::<u64>() {
        return libc::O_RDONLY;
    }
    // SAFETY: by the caller's contract `size` bytes are readable.
    unsafe { (how as *const u64).read_unaligned() as c_int }
}

/// A helper is started. Changes are unseen if the helper has a different environment, or is linked statically.
pub(crate) fn start(setup: &Setup, program: *const c_char, is_seen: bool) -> Answer<Entry> {
    if !is_seen && !program.is_null() {
        // SAFETY: the pointer is not null, and the called C function asks for a string.
        let name = unsafe { CStr::from_ptr(program) }.to_bytes();
        if !name.is_empty() {
            append(setup, JournalKind::Uncovered, &Stat::default(), &[b"helper", name])?;
        }
    }
    Ok(Entry::Call)
}
