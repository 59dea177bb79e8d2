//! The functions of the C library after which written bytes are known, or unseen: a close, a mapping, a stream of an open file.

use std::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::mem::transmute;

use super::setup;
use super::writes;
use crate::host::Behind;

static CLOSE: Behind = Behind::new(c"close");
static DUP2: Behind = Behind::new(c"dup2");
static DUP3: Behind = Behind::new(c"dup3");
static FCLOSE: Behind = Behind::new(c"fclose");
static FDOPEN: Behind = Behind::new(c"fdopen");
static MMAP: Behind = Behind::new(c"mmap64");

/// `close`.
#[unsafe(no_mangle)]
pub extern "C" fn close(file: c_int) -> c_int {
    writes::closed(file);
    // SAFETY: the address is the C library's `close`, with the caller's argument (Note [Exports] in `boundary`).
    unsafe { transmute::<*mut c_void, unsafe extern "C" fn(c_int) -> c_int>(CLOSE.address())(file) }
}

/// `dup2`: a shell redirects its output so.
#[unsafe(no_mangle)]
pub extern "C" fn dup2(file: c_int, to: c_int) -> c_int {
    writes::moved(file, to);
    // SAFETY: as above.
    unsafe { transmute::<*mut c_void, unsafe extern "C" fn(c_int, c_int) -> c_int>(DUP2.address())(file, to) }
}

/// `dup3`.
#[unsafe(no_mangle)]
pub extern "C" fn dup3(file: c_int, to: c_int, flags: c_int) -> c_int {
    writes::moved(file, to);
    // SAFETY: as above.
    unsafe {
        transmute::<*mut c_void, unsafe extern "C" fn(c_int, c_int, c_int) -> c_int>(DUP3.address())(file, to, flags)
    }
}

/// `fclose`: the rest of the stream is written out before its end is noted.
#[unsafe(no_mangle)]
pub extern "C" fn fclose(stream: *mut libc::FILE) -> c_int {
    if !stream.is_null() && matches!(setup::current(), Ok(Some(_))) {
        // SAFETY: the caller answers for an open stream.
        let file = unsafe {
            libc::fflush(stream);
            libc::fileno(stream)
        };
        writes::closed_stream(file);
    }
    // SAFETY: as above.
    unsafe { transmute::<*mut c_void, unsafe extern "C" fn(*mut libc::FILE) -> c_int>(FCLOSE.address())(stream) }
}

/// `fdopen`: NumPy writes arrays so.
#[unsafe(no_mangle)]
pub extern "C" fn fdopen(file: c_int, mode: *const c_char) -> *mut libc::FILE {
    // SAFETY: `fdopen` asks for a string.
    let writes = !mode.is_null() && unsafe { CStr::from_ptr(mode) }.to_bytes().iter().any(|byte| b"wa+".contains(byte));
    if writes && let Ok(Some(setup)) = setup::current() {
        writes::streamed(setup, file);
    }
    // SAFETY: as above.
    unsafe {
        transmute::<*mut c_void, unsafe extern "C" fn(c_int, *const c_char) -> *mut libc::FILE>(FDOPEN.address())(
            file, mode,
        )
    }
}

/// `mmap`.
#[unsafe(no_mangle)]
pub extern "C" fn mmap(
    address: *mut c_void,
    bytes: usize,
    access: c_int,
    flags: c_int,
    file: c_int,
    offset: c_long,
) -> *mut c_void {
    if file >= 0 && access & libc::PROT_WRITE != 0 && flags & libc::MAP_SHARED != 0 {
        writes::mapped(file);
    }
    // SAFETY: as above.
    unsafe {
        let next: unsafe extern "C" fn(*mut c_void, usize, c_int, c_int, c_int, c_long) -> *mut c_void =
            transmute(MMAP.address());
        next(address, bytes, access, flags, file, offset)
    }
}

/// `mmap64`.
#[unsafe(no_mangle)]
pub extern "C" fn mmap64(
    address: *mut c_void,
    bytes: usize,
    access: c_int,
    flags: c_int,
    file: c_int,
    offset: c_long,
) -> *mut c_void {
    mmap(address, bytes, access, flags, file, offset)
}
