//! The mapped file. Its layout is Note `[Recording]` in `crates/wire/src/recording.rs`.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use wire::recording::{BLOCK_BYTES, EVENT_BYTES, MAGIC, VERSION, header};

use crate::room::{self, Capacity};

/// A mapped file, for as long as the process lives. It needs no descriptor: the program may close all.
pub(crate) struct RecordingFile {
    start: *mut u8,
    capacity: Capacity,
    written: u64,
    texts_used: usize,
    reserve_used: usize,
    lost_lines: u64,
}

// SAFETY: the mapping belongs to this value alone, and is valid in every thread.
unsafe impl Send for RecordingFile {}

impl RecordingFile {
    /// Makes the file, with all its blocks of the disk: a full disk is found here, and not by a signal in the middle of the program.
    pub(crate) fn create(path: &Path, wanted: Capacity) -> io::Result<RecordingFile> {
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
        let mapped = room::choose(path, &file, wanted).and_then(|capacity| map(&file, capacity));
        let mut recording = mapped.inspect_err(|_| {
            // An empty file would be taken for a recording.
            let _ = std::fs::remove_file(path);
        })?;
        let Capacity { events, blocks, texts, reserve } = recording.capacity;
        let micros = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |passed| passed.as_micros() as u64);
        recording.put(header::VERSION, VERSION);
        recording.put(header::PID, std::process::id());
        recording.put(header::EVENT_CAPACITY, events as u64);
        recording.put(header::BLOCK_CAPACITY, blocks as u64);
        recording.put(header::TEXT_CAPACITY, texts as u64);
        recording.put(header::RESERVE_CAPACITY, reserve as u64);
        recording.put(header::STARTED_MICROS, micros);
        recording.put(header::MAGIC, MAGIC);
        Ok(recording)
    }

    /// The number of events so far.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Appends an event in place of the oldest.
    #[inline]
    pub(crate) fn append(&mut self, event: &RecordedEvent) {
        let at = header::BYTES + self.written as usize % self.capacity.events * EVENT_BYTES;
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
        if entry.len() > self.capacity.texts - self.texts_used {
            return false;
        }
        self.put_bytes(self.capacity.start_of_texts() + self.texts_used, entry);
        self.texts_used += entry.len();
        self.publish(header::TEXTS_USED, self.texts_used as u64);
        true
    }

    /// Appends a line to the reserve, because of a system's error at its file; false if there is no room, or another line had none.
    pub(crate) fn append_reserve(&mut self, line: &[u8], error: i32) -> bool {
        if self.reserve_used == 0 && self.lost_lines == 0 {
            self.put(header::APPEND_ERROR, error);
        }
        if self.lost_lines > 0 || line.len() > self.capacity.reserve - self.reserve_used {
            self.lost_lines += 1;
            self.put(header::LOST_LINES, self.lost_lines);
            return false;
        }
        self.put_bytes(self.capacity.start_of_reserve() + self.reserve_used, line);
        self.reserve_used += line.len();
        self.publish(header::RESERVE_USED, self.reserve_used as u64);
        true
    }

    /// Sets the current step.
    pub(crate) fn set_step(&mut self, step: u32) {
        self.put(header::STEP, step);
    }

    /// Sets a counter of the header.
    pub(crate) fn set_lost(&mut self, field: usize, count: u64) {
        self.put(field, count);
    }

    /// The slots for blocks.
    #[inline]
    pub(crate) fn blocks(&mut self) -> &mut [RecordedBlock] {
        let (at, count) = (self.capacity.start_of_blocks(), self.capacity.blocks);
        // SAFETY: so many slots lie there, aligned as `u64` because all parts before are multiples of 8; zeros are valid slots.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(at).cast(), count) }
    }

    /// Writes a value at an offset.
    #[inline]
    fn put<T: Copy>(&mut self, at: usize, value: T) {
        // SAFETY: all offsets of this file's callers lie in the mapping, and any bytes may be written there.
        unsafe { std::ptr::write_unaligned(self.start.add(at).cast(), value) };
    }

    /// Writes bytes at an offset.
    fn put_bytes(&mut self, at: usize, bytes: &[u8]) {
        // SAFETY: the callers have compared the end of the bytes with that of their part of the mapping.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.add(at), bytes.len()) };
    }

    /// Writes a counter, after the counted entries.
    #[inline]
    fn publish(&mut self, at: usize, count: u64) {
        std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::Release);
        self.put(at, count);
    }
}

/// Reserves the blocks of the disk, and maps the file.
fn map(file: &File, capacity: Capacity) -> io::Result<RecordingFile> {
    let length = capacity.bytes();
    // SAFETY: the descriptor is open.
    let failed = unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, length as libc::off_t) };
    if failed != 0 {
        return Err(io::Error::from_raw_os_error(failed));
    }
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping of an open file, at an address of the kernel's choice.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), length, protection, libc::MAP_SHARED, file.as_raw_fd(), 0) };
    if start == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    let start = start.cast();
    Ok(RecordingFile { start, capacity, written: 0, texts_used: 0, reserve_used: 0, lost_lines: 0 })
}

/// An event, as in the file.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RecordedEvent {
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
pub(crate) struct RecordedBlock {
    pub(crate) address: u64,
    pub(crate) size: u64,
    pub(crate) stack: u32,
    pub(crate) step: u32,
    pub(crate) device: u8,
    pub(crate) unused: [u8; 7],
}

const _: () = assert!(size_of::<RecordedEvent>() == EVENT_BYTES && size_of::<RecordedBlock>() == BLOCK_BYTES);

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test")]
mod tests {
    use trace::Action;
    use wire::recording::{KIND_MEMORY, PLACE, STACK};

    use super::*;

    /// A place, and the stack of that place alone.
    fn texts() -> Vec<u8> {
        let mut texts = vec![PLACE, 7, 0, 0, 0, 8, 0, 1, 0];
        texts.extend(b"train.pyf");
        texts.extend([STACK, 1, 0, 1, 0, 0, 0]);
        texts
    }

    #[test]
    fn the_reader_finds_what_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rank0.recording");
        let mut file = RecordingFile::create(&path, Capacity::of_events(4)).unwrap();
        assert!(file.append_text(&texts()));
        let memory = |address, change| RecordedEvent {
            address,
            change,
            stack: 1,
            kind: KIND_MEMORY,
            step: 1,
            ..RecordedEvent::default()
        };
        for number in 1..=6 {
            file.append(&memory(number * 512, 512));
        }
        file.append(&memory(6 * 512, -512));
        let mut count = 0;
        assert!(crate::blocks::insert(
            file.blocks(),
            &mut count,
            RecordedBlock { address: 512, size: 512, stack: 1, ..RecordedBlock::default() }
        ));
        let recording = trace::read_recording(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(recording.event_count(), 7);
        let snapshot = recording.into_snapshot(None, &[]);
        let allocs = snapshot.traces[0].iter().filter(|event| event.action == Action::Alloc);
        assert_eq!(
            allocs.map(|event| event.address.0 / 512).collect::<Vec<_>>(),
            [4, 5, 6],
            "the ring holds four events"
        );
        let frame = snapshot.stacks.list_frames().next().unwrap();
        assert_eq!((frame.file.as_str(), frame.function.as_str(), frame.line), ("train.py", "f", 7));
        let held: Vec<_> = snapshot
            .segments
            .iter()
            .flat_map(|segment| &segment.blocks)
            .filter(|block| block.stack != trace::StackId::EMPTY)
            .collect();
        assert_eq!(held.len(), 1, "{held:?}");
    }

    #[test]
    fn lines_without_a_file_lie_in_the_reserve_until_it_is_full() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rank0.recording");
        let mut file = RecordingFile::create(&path, Capacity { reserve: 12, ..Capacity::of_events(4) }).unwrap();
        let reserve = || trace::read_recording(&std::fs::read(&path).unwrap()).unwrap().reserve().clone();
        assert_eq!(reserve(), trace::recording::Reserve::default());
        // Behind the first line without room, no shorter one is taken: the lines are those of the beginning.
        let lines = ["first\n", "much longer\n", "1\n"];
        assert_eq!(lines.map(|line| file.append_reserve(line.as_bytes(), libc::EACCES)), [true, false, false]);
        let expected = trace::recording::Reserve { lines: b"first\n".to_vec(), lost: 2, error: libc::EACCES as u32 };
        assert_eq!(reserve(), expected);
    }

    #[test]
    fn a_file_that_cannot_be_made_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert!(RecordingFile::create(&folder.path().join("missing/rank0.recording"), Capacity::of_events(4)).is_err());
        let path = folder.path().join("rank0.recording");
        assert!(RecordingFile::create(&path, Capacity::of_events(1 << 48)).is_err(), "no disk is so large");
        assert!(!path.exists());
    }
}
