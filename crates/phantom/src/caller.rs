//! Finds the library whose code requested memory, so that the ledger can name the owner.

use std::ffi::{CStr, c_void};
use std::sync::{Mutex, PoisonError};

use crate::ledger::Owner;

/// The file of PyTorch's caching allocator (c10/cuda/CUDACachingAllocator.cpp links into it).
const PYTORCH_ALLOCATOR: &str = "libc10_cuda.so";
/// Frames that are looked at: ours, and then the caller's.
const DEPTH: usize = 12;

static NAMES: Mutex<Vec<Owner>> = Mutex::new(Vec::new());

/// The owner of the memory that is being asked for: `pytorch`, or the file name of the first library up the stack
/// that is not this one.
pub(crate) fn owner() -> Owner {
    let mut frames = [std::ptr::null_mut::<c_void>(); DEPTH];
    // SAFETY: the array is as long as stated; `backtrace` writes no further.
    let count = unsafe { libc::backtrace(frames.as_mut_ptr(), DEPTH as i32) };
    let ours = file_of(owner as *const c_void);
    let caller =
        frames[..usize::try_from(count).unwrap_or(0)].iter().map(|frame| file_of(*frame)).find(|file| *file != ours);
    match caller.flatten() {
        Some(file) if file == PYTORCH_ALLOCATOR => "pytorch",
        Some(file) => interned(&file),
        None => "program",
    }
}

/// The file name of the library that holds an address.
fn file_of(address: *const c_void) -> Option<String> {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: `dladdr` takes any address and fills `info` when it returns non-zero; the name it points to lives as
    // long as the library is loaded, and is copied at once.
    let path = unsafe {
        if libc::dladdr(address, info.as_mut_ptr()) == 0 {
            return None;
        }
        CStr::from_ptr(info.assume_init().dli_fname)
    };
    let path = path.to_string_lossy();
    path.rsplit('/').next().map(str::to_owned)
}

/// Names are few, and live as long as the process.
fn interned(name: &str) -> Owner {
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.iter().find(|known| **known == name) {
        return known;
    }
    let name: Owner = Box::leak(name.to_owned().into_boxed_str());
    names.push(name);
    name
}
