//! Reads the stack for the owner of the running code: the library that requested memory, for the ledger; the kernel
//! that called an operator, for the agent.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_int, c_void};
use std::sync::{Mutex, PoisonError};

use wire::owner::PYTORCH;

use crate::ledger::Owner;

/// The file of PyTorch's caching allocator (c10/cuda/CUDACachingAllocator.cpp links into it).
const PYTORCH_ALLOCATOR: &str = "libc10_cuda.so";
/// The number of inspected frames: the phantom's own, then the caller's.
const DEPTH: usize = 12;

static NAMES: Mutex<Vec<Owner>> = Mutex::new(Vec::new());

/// The owner of the requested memory: `pytorch`, or the file name of the first library up the stack except the phantom.
pub(crate) fn owner() -> Owner {
    match find_library() {
        Some(file) if file == PYTORCH_ALLOCATOR => PYTORCH,
        Some(file) => interned(&file),
        None => "program",
    }
}

/// The file name of the first library up the stack except the phantom.
fn find_library() -> Option<String> {
    let mut frames = [std::ptr::null_mut::<c_void>(); DEPTH];
    // SAFETY: the array is as long as stated; `backtrace` writes no further.
    let count = unsafe { libc::backtrace(frames.as_mut_ptr(), DEPTH as i32) };
    let ours = file_of(find_library as *const c_void);
    let mut files = frames[..usize::try_from(count).unwrap_or(0)].iter().map(|frame| file_of(*frame));
    files.find(|file| *file != ours).flatten()
}

/// True if one of PyTorch's own libraries is the caller.
pub(crate) fn is_pytorch() -> bool {
    find_library().is_some_and(|file| file.starts_with("libtorch") || file.starts_with("libc10"))
}

/// True if PyTorch's caching allocator is the caller.
pub(crate) fn is_pytorchs_allocator() -> bool {
    owner() == PYTORCH
}

/// Frames between an operator's stand-in in Python and the program's own line, with some to spare.
const KERNEL_DEPTH: usize = 128;

/// The component that a frame belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The Python interpreter.
    Interpreter,
    /// The way from Python to a kernel: PyTorch's bindings, dispatcher and composed operators.
    Dispatcher,
    /// A library of kernels, PyTorch's or an extension's.
    Kernels,
    /// Libraries that appear in any stack: libc, the phantom itself.
    Other,
}

/// Parts by return address: a program has few.
static PARTS: Mutex<BTreeMap<usize, Part>> = Mutex::new(BTreeMap::new());

/// For the agent, called in an operator's stand-in: 1 if the operator was called by a kernel, and not by the program.
#[unsafe(no_mangle)]
pub extern "C" fn oomph_is_in_kernel() -> c_int {
    let mut frames = [std::ptr::null_mut::<c_void>(); KERNEL_DEPTH];
    // SAFETY: the array is as long as stated; `backtrace` writes no further.
    let count = unsafe { libc::backtrace(frames.as_mut_ptr(), KERNEL_DEPTH as i32) };
    let mut parts = PARTS.lock().unwrap_or_else(PoisonError::into_inner);
    let parts = frames[..usize::try_from(count).unwrap_or(0)]
        .iter()
        .map(|frame| *parts.entry(*frame as usize).or_insert_with(|| part_of(file_of(*frame).as_deref())));
    c_int::from(is_in_kernel(parts))
}

/// True if kernels lie between the stand-in, which the interpreter runs, and the interpreter that called the operator.
/// Also true without such an interpreter, as in a thread of a backward pass.
fn is_in_kernel(frames: impl Iterator<Item = Part>) -> bool {
    let behind_stand_in = frames
        .skip_while(|part| *part != Part::Interpreter)
        .skip_while(|part| matches!(part, Part::Interpreter | Part::Other));
    for part in behind_stand_in {
        match part {
            Part::Interpreter => return false,
            Part::Kernels => return true,
            Part::Dispatcher | Part::Other => {}
        }
    }
    true
}

fn part_of(file: Option<&str>) -> Part {
    const DISPATCHER: [&str; 4] = ["libtorch_python.", "libtorch_cpu.", "libtorch.", "libc10."];
    const OTHER: [&str; 8] =
        ["libc.", "libstdc++.", "libgcc_s.", "libffi", "_ctypes", "libpthread.", "ld-linux", "liboomph"];
    let Some(file) = file else { return Part::Other };
    let begins = |names: &[&str]| names.iter().any(|name| file.starts_with(name));
    match file {
        _ if begins(&["libpython", "python"]) => Part::Interpreter,
        _ if begins(&DISPATCHER) => Part::Dispatcher,
        _ if begins(&OTHER) => Part::Other,
        _ => Part::Kernels,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_that_a_kernel_calls_is_told_from_one_that_the_program_calls() {
        let stand_in = ["liboomph_phantom.so", "libffi.so.8", "_ctypes.cpython-311-x86_64-linux-gnu.so", "python3.11"];
        let called = |by: &[&str]| {
            is_in_kernel(stand_in.iter().chain(by).map(|file| part_of(Some(file))).collect::<Vec<_>>().into_iter())
        };
        let dispatch = ["libtorch_python.so", "libtorch_cpu.so"];
        assert!(!called(&[&dispatch[..], &["libtorch_python.so", "python3.11", "libc.so.6"]].concat()));
        assert!(called(
            &[&dispatch[..], &["libtorch_cuda.so", "libtorch_cpu.so", "libtorch_python.so", "python3.11"]].concat()
        ));
        assert!(called(&[&dispatch[..], &["_C.so", "libtorch_python.so", "python3.11"]].concat()));
        assert!(
            called(&[&dispatch[..], &["libtorch_python.so", "libstdc++.so.6", "libc.so.6"]].concat()),
            "a backward pass"
        );
    }
}
