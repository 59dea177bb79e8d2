//! The Python stack of the running thread, read from the interpreter's structures without its lock.
//!
//! # Note [Frames]
//! PyTorch releases the interpreter's lock before an operator runs, and calls the recorder under the allocator's lock: a wait for the
//! interpreter's lock could last for ever there. The frames of the running thread can be read without the lock: the functions of these frames
//! wait for this very call, so nobody changes or frees a frame. Offsets of fields differ between versions of Python. The agent compares the
//! result of [`probe`] with the frames that Python shows, before anything is recorded.

use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};

use wire::recording::DEEPEST;

use crate::code::CodeLayout;

/// The offset of a field that this version of Python does not have.
pub const ABSENT: u32 = u32::MAX;

/// The bits of a pointer to an object that CPython 3.14 uses for itself (`Include/internal/pycore_stackref.h`).
const TAG_BITS: usize = 7;

/// The offsets of Python's structures, in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Layout {
    /// From a thread's state to the pointer to the running frame, or to the frame's holder.
    pub thread_frame: u32,
    /// From the holder to the pointer to the running frame; [`ABSENT`] if the thread's state points to the frame itself.
    pub holder_frame: u32,
    /// From a frame to its code object.
    pub frame_code: u32,
    /// From a frame to the frame of the caller.
    pub frame_previous: u32,
    /// From a frame to the last instruction.
    pub frame_instruction: u32,
    /// The length of that field: 8 for an address, 4 for an index of two-byte instructions.
    pub instruction_bytes: u32,
    /// From a frame to the byte with the kind of owner; [`ABSENT`] if every frame is that of a Python function.
    pub frame_owner: u32,
    /// The first kind of owner whose frames have no Python function.
    pub foreign_owner: u32,
    /// The offsets of code objects and texts.
    pub code: CodeLayout,
}

/// A function on the stack: code object, and last instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunningCall {
    pub(crate) code: usize,
    pub(crate) instruction: usize,
}

type GetThreadState = unsafe extern "C" fn() -> *mut c_void;

/// `PyGILState_GetThisThreadState`, once it was looked up.
static GET_THREAD_STATE: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// Looks Python's function up; false in a process without Python.
pub(crate) fn find_python() -> bool {
    // SAFETY: the name is a C string; the result is only stored.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"PyGILState_GetThisThreadState".as_ptr()) };
    GET_THREAD_STATE.store(found, Ordering::Release);
    !found.is_null()
}

/// The state of this thread; `None` if the thread has run no Python.
fn thread_state() -> Option<usize> {
    let found = GET_THREAD_STATE.load(Ordering::Acquire);
    if found.is_null() {
        return None;
    }
    // SAFETY: the address is that of this function, which needs no lock and takes no argument.
    let state = unsafe { std::mem::transmute::<*mut c_void, GetThreadState>(found)() };
    (!state.is_null()).then_some(state as usize)
}

/// Reads a word of memory.
trait RawMemory {
    fn word(&self, address: usize) -> Option<usize>;
    fn byte(&self, address: usize) -> Option<u8>;
}

/// Reads structures of this thread.
struct OwnMemory;

impl RawMemory for OwnMemory {
    #[inline]
    fn word(&self, address: usize) -> Option<usize> {
        // SAFETY: see Note [Frames]: the agent has compared the layout with this interpreter, and the structures of the running thread stay as they are.
        Some(unsafe { std::ptr::read_unaligned(address as *const usize) })
    }

    #[inline]
    fn byte(&self, address: usize) -> Option<u8> {
        // SAFETY: as above.
        Some(unsafe { std::ptr::read(address as *const u8) })
    }
}

/// Reads any address, after the kernel was asked for memory there.
struct AnyMemory;

impl AnyMemory {
    /// True if the eight aligned bytes around `address` can be read. `rt_sigprocmask(2)` reads a mask before it refuses a wrong way to apply
    /// it, and changes nothing; every sandbox allows the call, unlike `process_vm_readv(2)`, and it needs no descriptor.
    fn is_readable(address: usize) -> bool {
        const MASK_BYTES: usize = 8;
        let aligned = (address & !(MASK_BYTES - 1)) as *const c_void;
        if aligned.is_null() {
            return false;
        }
        let nowhere = std::ptr::null_mut::<c_void>();
        // SAFETY: there is no way `-1` to apply a mask, so the kernel reads at most eight bytes, and writes none.
        let status = unsafe { libc::syscall(libc::SYS_rt_sigprocmask, -1, aligned, nowhere, MASK_BYTES) };
        status == -1 && std::io::Error::last_os_error().raw_os_error() == Some(libc::EINVAL)
    }
}

impl RawMemory for AnyMemory {
    fn word(&self, address: usize) -> Option<usize> {
        let last = address.checked_add(size_of::<usize>() - 1)?;
        // SAFETY: the kernel has just read both ends, and no other thread of Python's runs meanwhile.
        (AnyMemory::is_readable(address) && AnyMemory::is_readable(last))
            .then(|| unsafe { std::ptr::read_unaligned(address as *const usize) })
    }

    fn byte(&self, address: usize) -> Option<u8> {
        // SAFETY: as above.
        AnyMemory::is_readable(address).then(|| unsafe { std::ptr::read(address as *const u8) })
    }
}

/// Calls `visit` with each function of the thread, innermost first, until it returns false.
#[inline]
fn walk(memory: &impl RawMemory, layout: &Layout, mut visit: impl FnMut(RunningCall) -> bool) -> Option<()> {
    let mut frame = memory.word(thread_state()? + layout.thread_frame as usize)?;
    if layout.holder_frame != ABSENT {
        frame = memory.word(frame.checked_add(layout.holder_frame as usize)?)?;
    }
    while frame != 0 {
        if is_of_python(memory, layout, frame)? && !visit(read_call(memory, layout, frame)?) {
            return Some(());
        }
        frame = memory.word(frame.checked_add(layout.frame_previous as usize)?)?;
    }
    Some(())
}

/// True if the frame is that of a Python function, not one that the interpreter made for itself.
#[inline]
fn is_of_python(memory: &impl RawMemory, layout: &Layout, frame: usize) -> Option<bool> {
    if layout.frame_owner == ABSENT {
        return Some(true);
    }
    let owner = memory.byte(frame.checked_add(layout.frame_owner as usize)?)?;
    Some(u32::from(owner) < layout.foreign_owner)
}

#[inline]
fn read_call(memory: &impl RawMemory, layout: &Layout, frame: usize) -> Option<RunningCall> {
    let code = memory.word(frame.checked_add(layout.frame_code as usize)?)? & !TAG_BITS;
    let field = memory.word(frame.checked_add(layout.frame_instruction as usize)?)?;
    let instruction = match layout.instruction_bytes {
        4 => code.wrapping_add(2 * (field & 0xffff_ffff)),
        _ => field,
    };
    Some(RunningCall { code, instruction })
}

/// A hash of the stack of this thread, of which the innermost functions count; `None` if the thread runs no Python.
#[inline]
pub(crate) fn hash(layout: &Layout) -> Option<u64> {
    let (mut hash, mut depth) = (0xcbf2_9ce4_8422_2325, 0);
    walk(&OwnMemory, layout, |position| {
        let mixed = (hash ^ position.instruction as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash = mixed ^ (mixed >> 29);
        depth += 1;
        depth < DEEPEST
    })?;
    (depth > 0).then_some(hash)
}

/// The functions on the stack of this thread, innermost first.
pub(crate) fn list(layout: &Layout) -> Vec<RunningCall> {
    let mut stack = Vec::new();
    let _ = walk(&OwnMemory, layout, |position| {
        stack.push(position);
        stack.len() < DEEPEST
    });
    stack
}

/// Writes the code object and the last instruction of each function of this thread to `words`, without trust in `layout`; returns the number
/// of functions.
pub(crate) fn probe(layout: &Layout, words: &mut [usize]) -> usize {
    if !find_python() {
        return 0;
    }
    let mut pairs = words.chunks_exact_mut(2);
    let mut count = 0;
    let walked = walk(&AnyMemory, layout, |call| {
        let Some(pair) = pairs.next() else { return false };
        pair.copy_from_slice(&[call.code, call.instruction]);
        count += 1;
        true
    });
    walked.map_or(0, |()| count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_address_is_read_or_refused() {
        let word = 0x0123_4567_89ab_cdef_usize;
        let address = (&raw const word) as usize;
        assert_eq!(AnyMemory.word(address), Some(word));
        assert_eq!(AnyMemory.byte(address), Some(word.to_ne_bytes()[0]));
        for nothing in [0, 1, 7, 4096, usize::MAX, usize::MAX - 6] {
            assert_eq!((AnyMemory.word(nothing), AnyMemory.byte(nothing)), (None, None), "{nothing:x}");
        }
    }
}
