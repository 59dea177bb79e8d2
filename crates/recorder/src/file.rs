//! The mapped file. Its layout is Note `[Recording]` in `crates/wire/src/recording.rs`.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use wire::recording::{BLOCK_BYTES, EVENT_BYTES, MAGIC, VERSION, header};

/// The number of slots for blocks. A program of 100,000 blocks has a small part of a percent of its memory in each.
const BLOCKS: usize = 1 << 17;
/// The bytes for texts: some 100,000 stacks.
const TEXTS: usize = 16 << 20;

/// A mapped file, for as long as the process lives.
pub(crate) struct Recording {
    start: *mut u8,
    events: usize,
    written: u64,
    texts_used: usize,
}

// SAFETY: the mapping belongs to this value alone, and is valid in every thread.
unsafe impl Send for Recording {}

impl Recording {
    /// Makes the file, with all its blocks of the disk: a full disk is found here, and not by a signal in the middle of the program.
    pub(crate) fn create(path: &Path, events: u64) -> io::Result<Recording> {
        let events = usize::try_from(events).map_err(io::Error::other)?.max(1);
        let length = header::BYTES + events * EVENT_BYTES + BLOCKS * BLOCK_BYTES + TEXTS;
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
        // SAFETY: the descriptor is open.
        let failed = unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, length as libc::off_t) };
        if failed != 0 {
            // An empty file would be taken for a recording.
            let _ = std::fs::remove_file(path);
            return Err(io::Error::from_raw_os_error(failed));
        }
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping of an open file, at an address of the kernel's choice.
        let start =
            unsafe { libc::mmap(std::ptr::null_mut(), length, protection, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        if start == libc::MAP_FAILED {
            let _ = std::fs::remove_file(path);
            return Err(io::Error::last_os_error());
        }
        let mut recording = Recording { start: start.cast(), events, written: 0, texts_used: 0 };
        let micros = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |passed| passed.as_micros() as u64);
        recording.put(header::VERSION, VERSION);
        recording.put(header::PID, std::process::id());
        recording.put(header::EVENT_CAPACITY, events as u64);
        recording.put(header::BLOCK_CAPACITY, BLOCKS as u64);
        recording.put(header::TEXT_CAPACITY, TEXTS as u64);
        recording.put(header::STARTED_MICROS, micros);
        recording.put(header::MAGIC, MAGIC);
        Ok(recording)
    }

    /// The number of events so far.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Appends an event; the oldest gives way.
    #[inline]
    pub(crate) fn append(&mut self, event: &Event) {
        let at = header::BYTES + self.written as usize % self.events * EVENT_BYTES;
        self.put(at, *event);
        self.fetch(at + 4 * EVENT_BYTES);
        self.written += 1;
        self.publish(header::EVENTS, self.written);
    }

    /// Fetches the lines of the next slots into the cache: the ring is larger, and a store would wait for the memory.
    #[inline]
    fn fetch(&self, at: usize) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a prefetch reads nothing and cannot fail; the offset is at most a few slots behind the ring, in the mapping.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(self.start.add(at).cast());
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = at;
    }

    /// Appends an entry of texts; false if there is no room.
    pub(crate) fn append_text(&mut self, entry: &[u8]) -> bool {
        if self.texts_used + entry.len() > TEXTS {
            return false;
        }
        let at = header::BYTES + self.events * EVENT_BYTES + BLOCKS * BLOCK_BYTES + self.texts_used;
        // SAFETY: the entry ends before the mapping does, as was just compared.
        unsafe { std::ptr::copy_nonoverlapping(entry.as_ptr(), self.start.add(at), entry.len()) };
        self.texts_used += entry.len();
        self.publish(header::TEXTS_USED, self.texts_used as u64);
        true
    }

    /// Sets a counter of the header.
    pub(crate) fn set_lost(&mut self, field: usize, count: u64) {
        self.put(field, count);
    }

    /// The slots for blocks.
    #[inline]
    pub(crate) fn blocks(&mut self) -> &mut [Block] {
        let at = header::BYTES + self.events * EVENT_BYTES;
        // SAFETY: `BLOCKS` slots lie there, aligned as `u64` because all parts before are multiples of 8; zeros are valid slots.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(at).cast(), BLOCKS) }
    }

    /// Writes a value at an offset.
    #[inline]
    fn put<T: Copy>(&mut self, at: usize, value: T) {
        // SAFETY: all offsets of this file's callers lie in the mapping, and any bytes may be written there.
        unsafe { std::ptr::write_unaligned(self.start.add(at).cast(), value) };
    }

    /// Writes a counter after everything that it counts.
    #[inline]
    fn publish(&mut self, at: usize, count: u64) {
        std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::Release);
        self.put(at, count);
    }
}

/// An event, as in the file.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Event {
    pub(crate) address: u64,
    pub(crate) change: i64,
    pub(crate) reserved: u64,
    pub(crate) stack: u32,
    pub(crate) step: u32,
    pub(crate) millis: u32,
    pub(crate) kind: u8,
    pub(crate) device: u8,
    pub(crate) unused: [u8; 2],
}

/// A block, as in the file.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) address: u64,
    pub(crate) size: u64,
    pub(crate) stack: u32,
    pub(crate) step: u32,
    pub(crate) device: u8,
    pub(crate) unused: [u8; 7],
}

const _: () = assert!(size_of::<Event>() == EVENT_BYTES && size_of::<Block>() == BLOCK_BYTES);
