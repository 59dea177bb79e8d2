//! Finding functions by name: our own, for programs that look entry points up at run time, and those of the libraries that
//! are mapped beside us.

use std::ffi::{CStr, CString, c_int, c_void};

use crate::generated::absent_driver::ABSENT;

/// Suffixes of a function's versions, newest first: a caller that asks for the plain name gets the newest, as
/// `cuGetProcAddress` answers programs built for this CUDA.
const VERSIONS: [&str; 4] = ["_v4", "_v3", "_v2", ""];

/// The address of an exported function of exactly this name.
pub(crate) fn exact_symbol(name: &str) -> Option<*const c_void> {
    let name = CString::new(name).ok()?;
    // SAFETY: `dlsym` with a NUL-terminated name only looks tables up.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!address.is_null() && is_ours(address)).then_some(address.cast_const())
}

/// The address of an exported function of the phantom: the newest modelled version, else a version that fails by name;
/// `None` for an unknown name.
pub(crate) fn own_symbol(name: &str) -> Option<*const c_void> {
    let names = VERSIONS.map(|version| format!("{name}{version}"));
    let (absent, modelled): (Vec<&String>, Vec<&String>) =
        names.iter().partition(|name| ABSENT.contains(&name.as_str()));
    modelled.into_iter().chain(absent).find_map(|name| exact_symbol(name))
}

/// True if an address lies in this library, and not in an installed driver.
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

/// True if a library is mapped whose file name starts with `file`.
pub(crate) fn is_mapped(file: &str) -> bool {
    path_of(file).is_some()
}

/// A function of a library that is mapped already, found by the start of its file name: the library's own, not ours.
pub(crate) fn mapped_symbol(file: &str, name: &CStr) -> Option<*const c_void> {
    let path = path_of(file)?;
    // SAFETY: the path ends in NUL; `RTLD_NOLOAD` finds mapped libraries only and runs no code. The reference to the
    // library is never dropped, so the address stays valid.
    let address = unsafe {
        let library = libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        if library.is_null() {
            return None;
        }
        libc::dlsym(library, name.as_ptr())
    };
    (!address.is_null() && !is_ours(address)).then_some(address.cast_const())
}

/// Calls `int name(int *value)` of a mapped library; only for functions that the header declares so.
pub(crate) fn ask_number(file: &str, name: &CStr) -> Option<c_int> {
    let function = mapped_symbol(file, name)?;
    let mut value = 0;
    // SAFETY: `version` only calls functions with this declaration in the libraries' headers; their status is an enum,
    // zero for success.
    let status = unsafe {
        let function: extern "C" fn(*mut c_int) -> c_int = std::mem::transmute(function);
        function(&raw mut value)
    };
    (status == 0).then_some(value)
}

/// Calls `int name(libraryPropertyType, int *value)` of a mapped library for major, minor, patch level.
pub(crate) fn ask_properties(file: &str, name: &CStr) -> Option<[c_int; 3]> {
    let function = mapped_symbol(file, name)?;
    let mut version = [0; 3];
    for (property, value) in (0..).zip(&mut version) {
        // SAFETY: `version` only calls the libraries' `…GetProperty`, declared so in their headers; the status and the
        // property are enums.
        let status = unsafe {
            let function: extern "C" fn(c_int, *mut c_int) -> c_int = std::mem::transmute(function);
            function(property, value)
        };
        (status == 0).then_some(())?;
    }
    Some(version)
}

/// The path of a library that is mapped, by the start of its file name; the phantom's own links do not count.
fn path_of(file: &str) -> Option<CString> {
    let mut search = LibrarySearch { file, found: None };
    // SAFETY: the callback is called only during this call, with the pointer passed here.
    unsafe { libc::dl_iterate_phdr(Some(look_at), (&raw mut search).cast()) };
    search.found
}

struct LibrarySearch<'a> {
    file: &'a str,
    found: Option<CString>,
}

/// Stops at the library that is searched for.
extern "C" fn look_at(info: *mut libc::dl_phdr_info, _bytes: usize, search: *mut c_void) -> c_int {
    // SAFETY: `dl_iterate_phdr` passes a valid `info`, whose name is null or ends in NUL, and our own `search`, to
    // which no second reference exists meanwhile.
    let (name, search) = unsafe {
        let name = (*info).dlpi_name;
        (if name.is_null() { c"" } else { CStr::from_ptr(name) }, &mut *search.cast::<LibrarySearch>())
    };
    let file = name.to_bytes().rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    if file.starts_with(search.file.as_bytes()) {
        search.found = Some(name.to_owned());
    }
    c_int::from(search.found.is_some())
}
