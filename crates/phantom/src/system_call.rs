//! The C library's `syscall`, behind the function of the same name that is exported here: it notes and journals nothing.

use std::ffi::c_long;
use std::mem::transmute;

use crate::host::Behind;

static NEXT: Behind = Behind::new(c"syscall");

/// Returns the function.
pub(crate) fn next() -> unsafe extern "C" fn(c_long, ...) -> c_long {
    // SAFETY: the address is that of the C library's function, with the declaration of unistd.h (Note [Exports] in
    // `boundary`).
    unsafe { transmute(NEXT.address()) }
}
