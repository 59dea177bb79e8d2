//! Finding our own functions by name, for programs that look entry points up at run time.

use std::ffi::{CString, c_void};

use crate::generated::absent_driver::ABSENT;

/// Suffixes of a function's versions, newest first: a caller that asks for the plain name gets the newest, as
/// `cuGetProcAddress` gives it to programs built for this CUDA.
const VERSIONS: [&str; 4] = ["_v4", "_v3", "_v2", ""];

/// The address of one of our exported functions: the newest version that is modelled, else one that fails by name;
/// `None` where we have none of that name.
pub fn own_symbol(name: &str) -> Option<*const c_void> {
    let names = VERSIONS.map(|version| format!("{name}{version}"));
    let (absent, modelled): (Vec<&String>, Vec<&String>) =
        names.iter().partition(|name| ABSENT.contains(&name.as_str()));
    modelled.into_iter().chain(absent).find_map(|name| {
        let name = CString::new(name.as_str()).ok()?;
        // SAFETY: `dlsym` with a NUL-terminated name only looks tables up.
        let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        (!address.is_null() && is_ours(address)).then_some(address.cast_const())
    })
}

/// Whether an address lies in this library, and not in a driver that happens to be installed.
fn is_ours(address: *const c_void) -> bool {
    match (base_of(address), base_of(own_symbol as *const c_void)) {
        (Some(found), Some(ours)) => found == ours,
        _ => false,
    }
}

fn base_of(address: *const c_void) -> Option<usize> {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: `dladdr` takes any address and fills `info` when it returns non-zero.
    unsafe { (libc::dladdr(address, info.as_mut_ptr()) != 0).then(|| info.assume_init().dli_fbase as usize) }
}
