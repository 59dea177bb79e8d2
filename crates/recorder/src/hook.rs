//! Puts functions of this crate in front of two functions of PyTorch's allocator.
//!
//! # Note [Hook]
//! `libc10_cuda.so` calls `c10::reportMemoryUsageToProfiler` and `c10::reportOutOfMemoryToProfiler`, which `libc10.so` exports, through
//! a table of functions (the entries of `DT_JMPREL`). The loader fills the entries at the start, or at the first call. This file overwrites
//! both entries with functions of the same signature, which call the originals. The rest of the process still calls the originals.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::panic::{UnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

/// `c10::Device`: kind and index (c10/core/Device.h, 2.0 and later).
#[repr(C)]
#[derive(Clone, Copy)]
struct TorchDevice {
    kind: i8,
    index: i8,
}

type ReportMemory = unsafe extern "C" fn(*mut c_void, i64, usize, usize, TorchDevice);
type ReportError = unsafe extern "C" fn(i64, usize, usize, TorchDevice);

const MEMORY: &CStr = c"_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE";
const ERROR: &CStr = c"_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE";
const CALLER: &[u8] = b"/libc10_cuda.so";
const OWNER: &[u8] = b"/libc10.so";

/// `R_X86_64_JUMP_SLOT` and `R_X86_64_GLOB_DAT`, and the same of AArch64.
#[cfg(target_arch = "x86_64")]
const SLOTS: [u32; 2] = [7, 6];
#[cfg(not(target_arch = "x86_64"))]
const SLOTS: [u32; 2] = [1026, 1025];

static REPORT_MEMORY: AtomicUsize = AtomicUsize::new(0);
static REPORT_ERROR: AtomicUsize = AtomicUsize::new(0);

/// Hears of every allocation, every free and every failed request.
pub(crate) trait Listener {
    /// A block of `change` bytes was allocated, or freed if `change` is negative.
    fn note_memory(address: *mut c_void, change: i64, reserved: u64, device: u8);
    /// A request failed.
    fn note_error(requested: i64, reserved: u64, device: u8);
    /// One of the functions above panicked.
    fn stop_for_good();
}

/// Keeps a panic on this side of the C boundary: the program goes on without the listener.
#[inline]
fn guard<L: Listener>(note: impl FnOnce() + UnwindSafe) {
    if catch_unwind(note).is_err() {
        L::stop_for_good();
    }
}

unsafe extern "C" fn report_memory<L: Listener>(
    address: *mut c_void,
    change: i64,
    allocated: usize,
    reserved: usize,
    device: TorchDevice,
) {
    guard::<L>(|| L::note_memory(address, change, reserved as u64, device.index as u8));
    let original = REPORT_MEMORY.load(Ordering::Relaxed);
    // SAFETY: `install` stored the address of the original first; the arguments are the caller's.
    unsafe { std::mem::transmute::<usize, ReportMemory>(original)(address, change, allocated, reserved, device) }
}

unsafe extern "C" fn report_error<L: Listener>(requested: i64, allocated: usize, reserved: usize, device: TorchDevice) {
    guard::<L>(|| L::note_error(requested, reserved as u64, device.index as u8));
    let original = REPORT_ERROR.load(Ordering::Relaxed);
    // SAFETY: as above.
    unsafe { std::mem::transmute::<usize, ReportError>(original)(requested, allocated, reserved, device) }
}

/// Puts both functions in front; false if this PyTorch calls no such function.
pub(crate) fn install<L: Listener>() -> bool {
    let Some([memory, error]) = find_originals() else {
        return false;
    };
    REPORT_MEMORY.store(memory, Ordering::Release);
    REPORT_ERROR.store(error, Ordering::Release);
    let replacements =
        [(MEMORY, report_memory::<L> as *const () as usize), (ERROR, report_error::<L> as *const () as usize)];
    let Some(caller) = find_library(CALLER) else {
        return false;
    };
    // SAFETY: the library is loaded, and PyTorch never unloads it.
    let replaced = replacements.map(|(name, function)| unsafe { caller.replace(name, function) });
    replaced == [true, true]
}

/// The addresses of the original functions.
fn find_originals() -> Option<[usize; 2]> {
    let owner = find_library(OWNER)?;
    // SAFETY: the name is a C string; `RTLD_NOLOAD` returns a handle only for a library that is loaded.
    let handle = unsafe { libc::dlopen(owner.name, libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    if handle.is_null() {
        return None;
    }
    // SAFETY: the handle is valid, the names are C strings.
    let found = [MEMORY, ERROR].map(|name| unsafe { libc::dlsym(handle, name.as_ptr()) } as usize);
    found.iter().all(|address| *address != 0).then_some(found)
}

/// A loaded library.
struct Library {
    base: usize,
    name: *const c_char,
    dynamic: usize,
    /// The part that the loader makes read-only: start and end.
    sealed: (usize, usize),
}

/// Finds a loaded library by the end of its path.
fn find_library(ending: &[u8]) -> Option<Library> {
    struct LibrarySearch<'a> {
        ending: &'a [u8],
        found: Option<Library>,
    }
    unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _size: usize, search: *mut c_void) -> c_int {
        // SAFETY: the loader passes a valid description, and the pointer that `find_library` handed over.
        let (info, search) = unsafe { (&*info, &mut *search.cast::<LibrarySearch>()) };
        // SAFETY: a name is a C string.
        if info.dlpi_name.is_null() || !unsafe { CStr::from_ptr(info.dlpi_name) }.to_bytes().ends_with(search.ending) {
            return 0;
        }
        let base = info.dlpi_addr as usize;
        let mut library = Library { base, name: info.dlpi_name, dynamic: 0, sealed: (0, 0) };
        // SAFETY: the loader's table has `dlpi_phnum` rows.
        for row in unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) } {
            let start = base + row.p_vaddr as usize;
            match row.p_type {
                libc::PT_DYNAMIC => library.dynamic = start,
                libc::PT_GNU_RELRO => library.sealed = (start, start + row.p_memsz as usize),
                _ => {}
            }
        }
        search.found = Some(library);
        1
    }
    let mut search = LibrarySearch { ending, found: None };
    // SAFETY: the function is called during this call only, with a pointer to `search`.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    search.found.filter(|library| library.dynamic != 0)
}

/// The parts of a library's dynamic section that are needed here.
#[derive(Default)]
struct Dynamic {
    names: usize,
    symbols: usize,
    tables: [(usize, usize); 2],
}

/// `Elf64_Rela`.
#[repr(C)]
struct Relocation {
    offset: u64,
    info: u64,
    addend: i64,
}

impl Library {
    /// Overwrites the entry of `name` in the library's table of functions; false if there is none.
    ///
    /// # Safety
    /// The library stays loaded, and `function` has the signature of `name`.
    unsafe fn replace(&self, name: &CStr, function: usize) -> bool {
        // SAFETY: by the contract of this function.
        let dynamic = unsafe { self.read_dynamic() };
        let mut is_replaced = false;
        for (table, bytes) in dynamic.tables {
            // SAFETY: the dynamic section states the table's length.
            let rows = unsafe { slice_of::<Relocation>(table, bytes) };
            for row in rows.iter().filter(|row| SLOTS.contains(&(row.info as u32))) {
                // SAFETY: the row's symbol is one of the library, and its name lies in the table of names.
                let named = unsafe { dynamic.name_of((row.info >> 32) as usize) };
                if named == name {
                    // SAFETY: the row states the place of the entry, a word.
                    is_replaced |= unsafe { self.overwrite(self.base + row.offset as usize, function) };
                }
            }
        }
        is_replaced
    }

    /// # Safety
    /// The library stays loaded.
    unsafe fn read_dynamic(&self) -> Dynamic {
        let (mut dynamic, mut sizes) = (Dynamic::default(), [0; 2]);
        let mut entry = self.dynamic as *const [u64; 2];
        loop {
            // SAFETY: the section ends with an entry of tag 0 (`DT_NULL`).
            let [tag, value] = unsafe { std::ptr::read_unaligned(entry) };
            let value = value as usize;
            match tag {
                0 => break,
                2 => sizes[0] = value,             // DT_PLTRELSZ
                8 => sizes[1] = value,             // DT_RELASZ
                5 => dynamic.names = value,        // DT_STRTAB
                6 => dynamic.symbols = value,      // DT_SYMTAB
                23 => dynamic.tables[0].0 = value, // DT_JMPREL
                7 => dynamic.tables[1].0 = value,  // DT_RELA
                _ => {}
            }
            // SAFETY: as above.
            entry = unsafe { entry.add(1) };
        }
        dynamic.tables[0].1 = sizes[0];
        dynamic.tables[1].1 = sizes[1];
        dynamic
    }

    /// # Safety
    /// `entry` is a word of the library's table of functions.
    unsafe fn overwrite(&self, entry: usize, function: usize) -> bool {
        // SAFETY: `sysconf` has no precondition.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let start = (entry & !(page - 1)) as *mut c_void;
        // SAFETY: the page belongs to the library's data; it becomes writable and stays readable.
        if unsafe { libc::mprotect(start, page, libc::PROT_READ | libc::PROT_WRITE) } != 0 {
            return false;
        }
        // SAFETY: the entry is an aligned word, which other threads read whole.
        unsafe { (*(entry as *const AtomicUsize)).store(function, Ordering::Release) };
        if self.sealed.0 <= start as usize && start as usize + page <= self.sealed.1 {
            // SAFETY: the loader had made the page read-only.
            unsafe { libc::mprotect(start, page, libc::PROT_READ) };
        }
        true
    }
}

impl Dynamic {
    /// # Safety
    /// `symbol` is the number of a symbol of the library.
    unsafe fn name_of(&self, symbol: usize) -> &CStr {
        // SAFETY: by the contract of this function; an `Elf64_Sym` has 24 bytes and starts with the offset of its name.
        unsafe {
            let offset = std::ptr::read_unaligned((self.symbols + 24 * symbol) as *const u32);
            CStr::from_ptr((self.names + offset as usize) as *const c_char)
        }
    }
}

/// # Safety
/// `bytes` bytes of `T` lie at `address`, or both are 0.
unsafe fn slice_of<'a, T>(address: usize, bytes: usize) -> &'a [T] {
    if address == 0 {
        return &[];
    }
    // SAFETY: by the contract of this function.
    unsafe { std::slice::from_raw_parts(address as *const T, bytes / size_of::<T>()) }
}
