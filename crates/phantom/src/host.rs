//! Large host memory: only written pages take space, and written pages can be emptied again.
//!
//! # Note [Host memory]
//!
//! A model is built on the host and then moved to the phantom, which keeps no weights. To make weights free on the host as well,
//! large requests of PyTorch's host allocator (`posix_memalign`, c10/core/impl/alloc_cpu.cpp) are answered here, in a range of addresses of our own. Every mapping there is private, anonymous and without reservation:
//! - a page that was never written is a hole: it reads as zeros and takes no memory;
//! - the kernel does not refuse a tensor larger than the machine (`vm.overcommit_memory` = 0 does otherwise);
//! - holes can be found (`/proc/self/pagemap`) and made (`madvise`), so the agent copies tensors as `cp --sparse` copies
//!   files: exactly, without touching what holds nothing. See Note `[Holes]` in `python/oomph/agent/host/holes.py`.
//!
//! Other requests go on to the program's allocator: the C library's, or a preloaded allocator. A page before each mapping stores the
//! length, so the phantom needs no table and no lock, and a forked child works unchanged.
//!
//! The exports of this file are safe functions as in Note [Exports] in `boundary`: `free`, `realloc` and `malloc_usable_size` dereference
//! an address only inside `HOST_RANGE`, where the phantom alone maps memory, and pass every other address on unread.

use std::ffi::{CStr, c_int, c_void};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use crate::boundary::Out;
use crate::ranges::HOST_RANGE;

/// Requests from this size on are answered here.
pub(crate) const LARGE_BYTES: usize = 1 << 20;
/// A page of x86-64.
const PAGE_BYTES: usize = 4096;
/// The number of addresses to try after the range was used up and addresses repeat.
const PLACES_TRIED: usize = 1024;
/// The number of page map entries per read; an entry describes a page in eight bytes.
const ENTRIES_READ: usize = 1024;
/// A page that holds something: present (bit 63) or swapped out (bit 62); Documentation/admin-guide/mm/pagemap.rst.
const TOUCHED: u64 = 0b11 << 62;

static NEXT_ADDRESS: AtomicUsize = AtomicUsize::new(HOST_RANGE.start);

/// Maps memory whose pages take no space before the first write, at an address of [`HOST_RANGE`].
pub(crate) fn map(bytes: usize) -> Option<usize> {
    let bytes = bytes.checked_next_multiple_of(PAGE_BYTES)?;
    (0..PLACES_TRIED).find_map(|_| map_at(next_place(bytes)?, bytes))
}

/// Unmaps memory of [`map`].
pub(crate) fn unmap(address: usize, bytes: usize) -> Option<()> {
    let bytes = bytes.checked_next_multiple_of(PAGE_BYTES)?;
    // SAFETY: the range came from `map` with this length; its owner frees the range and uses it no more.
    (unsafe { libc::munmap(address as *mut c_void, bytes) } == 0).then_some(())
}

/// Addresses rise, and begin anew at the end of the range.
fn next_place(bytes: usize) -> Option<usize> {
    let place = |next: usize| if bytes > HOST_RANGE.end - next { HOST_RANGE.start } else { next };
    if bytes > HOST_RANGE.len() {
        return None;
    }
    let before = NEXT_ADDRESS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| Some(place(next) + bytes));
    before.ok().map(place)
}

fn map_at(address: usize, bytes: usize) -> Option<usize> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    // SAFETY: with MAP_FIXED_NOREPLACE the kernel refuses a range in which anything is mapped, so no memory of the
    // program's is touched.
    let found =
        unsafe { libc::mmap(address as *mut c_void, bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) } as usize;
    if found == address {
        return Some(address);
    }
    // Linux before 4.17 does not know the flag and takes the address for a hint.
    if found != libc::MAP_FAILED as usize {
        unmap(found, bytes);
    }
    None
}

/// Makes memory read as zeros; inside [`HOST_RANGE`] whole pages become holes.
pub(crate) fn clear(address: usize, bytes: usize) {
    let pages = whole_pages(address, bytes);
    // SAFETY: `madvise` changes whole pages inside the range, which the caller passed to be overwritten; in
    // `HOST_RANGE` pages are private and anonymous, so they become zeros.
    let emptied = HOST_RANGE.contains(&address)
        && unsafe { libc::madvise(pages.start as *mut c_void, pages.len(), libc::MADV_DONTNEED) } == 0;
    let written = if emptied {
        [address..pages.start, pages.end..address + bytes]
    } else {
        [address..address, address..address + bytes]
    };
    for part in written {
        // SAFETY: the part lies within the range that the caller gave to be overwritten.
        unsafe { std::ptr::write_bytes(part.start as *mut u8, 0, part.len()) };
    }
}

/// The whole pages of a range; an empty range at the end if it has none.
fn whole_pages(address: usize, bytes: usize) -> Range<usize> {
    let end = address + bytes;
    let start = address.next_multiple_of(PAGE_BYTES).min(end);
    start..(end - end % PAGE_BYTES).max(start)
}

/// The first part of a range that may hold data; `None` if the whole range is a hole.
pub(crate) fn first_touched(range: Range<usize>) -> Option<Range<usize>> {
    if !HOST_RANGE.contains(&range.start) {
        return (!range.is_empty()).then_some(range);
    }
    // Without a page map, all of it may hold something.
    let Ok(map) = File::open("/proc/self/pagemap") else { return Some(range) };
    let start = find_page(&map, range.clone(), |entry| entry & TOUCHED != 0)?;
    let rest = start.max(range.start)..range.end;
    let end = find_page(&map, rest.clone(), |entry| entry & TOUCHED == 0).unwrap_or(range.end);
    Some(rest.start..end)
}

/// The address of the first page of a range whose entry in the page map is as wanted. An entry that cannot be read
/// counts as touched.
fn find_page(map: &File, range: Range<usize>, is_wanted: impl Fn(u64) -> bool) -> Option<usize> {
    let mut buffer = [0; ENTRIES_READ * size_of::<u64>()];
    let last = range.end.div_ceil(PAGE_BYTES);
    let mut page = range.start / PAGE_BYTES;
    while page < last {
        let entries = &mut buffer[..(last - page).min(ENTRIES_READ) * size_of::<u64>()];
        if map.read_exact_at(entries, (page * size_of::<u64>()) as u64).is_err() {
            entries.fill(u8::MAX);
        }
        let (entries, _) = entries.as_chunks::<{ size_of::<u64>() }>();
        if let Some(index) = entries.iter().position(|entry| is_wanted(u64::from_ne_bytes(*entry))) {
            return Some((page + index) * PAGE_BYTES);
        }
        page += entries.len();
    }
    None
}

/// Makes host memory read as zeros: for the agent.
#[unsafe(no_mangle)]
pub extern "C" fn oomph_clear_host(address: usize, bytes: usize) {
    clear(address, bytes);
}

/// Writes the start and the end of the first part of a range that may hold something; returns 0 if the range is a hole.
/// For the agent.
#[unsafe(no_mangle)]
pub extern "C" fn oomph_first_touched(address: usize, bytes: usize, start: Out<usize>, end: Out<usize>) -> c_int {
    let found = first_touched(address..address + bytes);
    start.set_if_wanted(found.as_ref().map_or(0, |part| part.start));
    end.set_if_wanted(found.as_ref().map_or(0, |part| part.end));
    c_int::from(found.is_some())
}

/// A function of the C library behind ours, looked up once.
pub(crate) struct Behind {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

impl Behind {
    pub(crate) const fn new(name: &'static CStr) -> Behind {
        Behind { name, found: AtomicPtr::new(std::ptr::null_mut()) }
    }

    pub(crate) fn address(&self) -> *mut c_void {
        let known = self.found.load(Ordering::Relaxed);
        if !known.is_null() {
            return known;
        }
        // SAFETY: `dlsym` with a NUL-terminated name only looks tables up. Every process has a C library behind us.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        self.found.store(found, Ordering::Relaxed);
        found
    }
}

static FREE: Behind = Behind::new(c"free");
static POSIX_MEMALIGN: Behind = Behind::new(c"posix_memalign");
static REALLOC: Behind = Behind::new(c"realloc");
static USABLE_SIZE: Behind = Behind::new(c"malloc_usable_size");

/// Looks the next `free` up.
pub(crate) fn prepare_free() {
    FREE.address();
}

/// `posix_memalign`: large requests are answered here. See Note [Host memory].
#[unsafe(no_mangle)]
pub extern "C" fn posix_memalign(out: Out<usize>, alignment: usize, bytes: usize) -> c_int {
    if bytes >= LARGE_BYTES
        && alignment <= PAGE_BYTES
        && let Some(address) = allocate(bytes)
    {
        out.set_if_wanted(address);
        return 0;
    }
    // SAFETY: the address is the next `posix_memalign`'s, with the same parameters and contract.
    unsafe {
        let next: extern "C" fn(Out<usize>, usize, usize) -> c_int = std::mem::transmute(POSIX_MEMALIGN.address());
        next(out, alignment, bytes)
    }
}

/// `free` of whatever any allocator gave.
#[unsafe(no_mangle)]
pub extern "C" fn free(address: usize) {
    if HOST_RANGE.contains(&address) {
        release(address);
        return;
    }
    // SAFETY: the address is that of the next `free`, and the memory came from its allocator: ours is all in the range.
    unsafe {
        let next: extern "C" fn(usize) = std::mem::transmute(FREE.address());
        next(address);
    }
}

/// `realloc`: what is ours moves to the allocator behind.
#[unsafe(no_mangle)]
pub extern "C" fn realloc(address: usize, bytes: usize) -> usize {
    // SAFETY: the address is the next `realloc`'s, called with null or memory of its own allocator. The copied bytes
    // lie in the old memory and fit the new.
    unsafe {
        let next: extern "C" fn(usize, usize) -> usize = std::mem::transmute(REALLOC.address());
        if !HOST_RANGE.contains(&address) {
            return next(address, bytes);
        }
        let moved = next(0, bytes);
        if moved != 0 {
            let kept = usable_bytes(address).min(bytes);
            std::ptr::copy_nonoverlapping(address as *const u8, moved as *mut u8, kept);
            release(address);
        }
        moved
    }
}

/// `malloc_usable_size` of whatever any allocator gave.
#[unsafe(no_mangle)]
pub extern "C" fn malloc_usable_size(address: usize) -> usize {
    if HOST_RANGE.contains(&address) {
        return usable_bytes(address);
    }
    // SAFETY: the address is the next `malloc_usable_size`'s, called with null or memory of its own allocator.
    unsafe {
        let next: extern "C" fn(usize) -> usize = std::mem::transmute(USABLE_SIZE.address());
        next(address)
    }
}

/// Allocates memory behind a page that holds the mapping's length.
fn allocate(bytes: usize) -> Option<usize> {
    let length = bytes.checked_add(PAGE_BYTES)?;
    let base = map(length)?;
    // SAFETY: the first page of the mapping is ours, aligned and writable.
    unsafe { (base as *mut usize).write(length) };
    Some(base + PAGE_BYTES)
}

fn release(address: usize) {
    let length = usable_bytes(address) + PAGE_BYTES;
    unmap(address - PAGE_BYTES, length);
}

fn usable_bytes(address: usize) -> usize {
    // SAFETY: `allocate` wrote the length at the start of the page before the returned memory; freeing any other
    // address in this range breaks the contract of `free`.
    unsafe { *((address - PAGE_BYTES) as *const usize) - PAGE_BYTES }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot map memory has failed")]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    fn write(address: usize, byte: u8) {
        // SAFETY: the tests write only within their mappings.
        unsafe { (address as *mut u8).write(byte) }
    }

    fn read(address: usize) -> u8 {
        // SAFETY: the tests read only within their mappings.
        unsafe { (address as *const u8).read() }
    }

    #[test]
    fn memory_is_a_hole_until_it_is_written_and_after_it_was_cleared() {
        let base = map(64 * MIB).unwrap();
        let all = base..base + 64 * MIB;
        assert_eq!(first_touched(all.clone()), None);
        write(base + 40 * MIB + 5, 7);
        let touched = first_touched(all.clone()).unwrap();
        assert!(touched.contains(&(base + 40 * MIB + 5)), "{touched:x?}");
        assert_eq!(first_touched(base..touched.start), None, "before it is a hole");
        // An odd range: the pages at its ends are shared with other data, and keep the bytes outside.
        write(base + 40 * MIB + 4, 6);
        clear(base + 40 * MIB + 5, 8 * MIB);
        assert_eq!([4, 5].map(|offset| read(base + 40 * MIB + offset)), [6, 0]);
        clear(base, 64 * MIB);
        assert_eq!(first_touched(all), None);
        assert_eq!(unmap(base, 64 * MIB), Some(()));
    }

    fn aligned(alignment: usize, bytes: usize) -> usize {
        let mut address = 0;
        assert_eq!(posix_memalign(Out::to(&mut address), alignment, bytes), 0);
        assert!(address.is_multiple_of(alignment) && malloc_usable_size(address) >= bytes, "{alignment} {bytes}");
        address
    }

    #[test]
    fn more_than_the_machine_has_can_be_asked_for() {
        let address = aligned(64, 1 << 40);
        assert!(HOST_RANGE.contains(&address));
        write(address + (1 << 39), 1);
        free(address);
    }

    #[test]
    fn what_is_not_large_is_the_next_allocators() {
        for (alignment, bytes) in [(64, LARGE_BYTES - 1), (2 * PAGE_BYTES, LARGE_BYTES)] {
            let address = aligned(alignment, bytes);
            assert!(!HOST_RANGE.contains(&address), "{alignment} {bytes}");
            free(address);
        }
    }

    #[test]
    fn realloc_keeps_the_contents_of_ours() {
        let address = aligned(64, 2 * MIB);
        write(address + 100, 9);
        let moved = realloc(address, 4 * MIB);
        assert_eq!(read(moved + 100), 9);
        free(moved);
    }

    #[test]
    fn addresses_come_round_again() {
        NEXT_ADDRESS.store(HOST_RANGE.end - MIB, Ordering::Relaxed);
        let last = map(MIB).unwrap();
        let first = map(MIB).unwrap();
        assert!(first < last, "{first:x} {last:x}");
        assert_eq!((unmap(last, MIB), unmap(first, MIB)), (Some(()), Some(())));
    }
}
