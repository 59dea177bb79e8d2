//! The room that a recording may take of a disk that is the program's first.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use wire::recording::{BLOCK_BYTES, EVENT_BYTES, header};

/// The most recordings of a folder in full size, some 4 GiB: a program may fork thousands of processes that use a GPU.
const MOST_FULL: usize = 64;
/// The most recordings of a folder.
const MOST: usize = 512;
/// The largest share of the free room of the disk: one part in so many.
const SHARE: u64 = 10;
/// A small recording has one part in so many of each part.
const SMALL: usize = 8;

/// The parts of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Capacity {
    /// The slots for events.
    pub(crate) events: usize,
    /// The slots for blocks, a power of two. A program of 100,000 blocks has a small part of a percent of its memory in each.
    pub(crate) blocks: usize,
    /// The bytes for texts: some 100,000 stacks in 16 MiB.
    pub(crate) texts: usize,
    /// The bytes for lines that find no place in their file.
    pub(crate) reserve: usize,
}

impl Capacity {
    /// The full size, with so many events.
    pub(crate) fn of_events(events: u64) -> Capacity {
        let events = usize::try_from(events).unwrap_or(usize::MAX).max(1);
        Capacity { events, blocks: 1 << 17, texts: 16 << 20, reserve: 1 << 20 }
    }

    fn small(self) -> Capacity {
        let Capacity { events, blocks, texts, reserve } = self;
        Capacity {
            events: (events / SMALL).max(1),
            blocks: blocks / SMALL,
            texts: texts / SMALL,
            reserve: reserve / SMALL,
        }
    }

    /// The offset of the table of blocks.
    pub(crate) fn start_of_blocks(self) -> usize {
        header::BYTES.saturating_add(self.events.saturating_mul(EVENT_BYTES))
    }

    /// The offset of the texts.
    pub(crate) fn start_of_texts(self) -> usize {
        self.start_of_blocks().saturating_add(self.blocks * BLOCK_BYTES)
    }

    /// The offset of the reserve.
    pub(crate) fn start_of_reserve(self) -> usize {
        self.start_of_texts().saturating_add(self.texts)
    }

    /// The length of the file.
    pub(crate) fn bytes(self) -> usize {
        self.start_of_reserve().saturating_add(self.reserve)
    }
}

/// Chooses the size of a new recording: `wanted`, or a small one where the disk or the folder is nearly full. An error names the want of room.
pub(crate) fn choose(path: &Path, file: &File, wanted: Capacity) -> io::Result<Capacity> {
    let (free, others) = (measure_free(file)?, count_recordings(path));
    let fits =
        |capacity: &Capacity| capacity.bytes() as u64 <= free / SHARE && is_within_limit(capacity.bytes() as u64);
    let candidates = [(MOST_FULL, wanted), (MOST, wanted.small())];
    let mut found = candidates.into_iter().filter(|(most, capacity)| others <= *most && fits(capacity));
    found.next().map(|(_, capacity)| capacity).ok_or_else(|| io::Error::from_raw_os_error(libc::ENOSPC))
}

/// The free bytes of the disk for this user.
fn measure_free(file: &File) -> io::Result<u64> {
    let mut found = std::mem::MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: the descriptor is open, and the kernel's answer fills `found`.
    if unsafe { libc::fstatvfs(file.as_raw_fd(), found.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded.
    let found = unsafe { found.assume_init() };
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

/// The recordings in the folder of `path`, the new one included.
fn count_recordings(path: &Path) -> usize {
    let entries = path.parent().and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    entries.filter(|entry| Path::new(&entry.file_name()).extension().is_some_and(|found| found == ending)).count()
}

/// True if the process may write a file of so many bytes (`RLIMIT_FSIZE`). The kernel answers a longer one with a signal.
pub(crate) fn is_within_limit(bytes: u64) -> bool {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the kernel writes to `limit`.
    unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) };
    bytes <= limit.rlim_cur
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    #[test]
    fn many_recordings_of_a_folder_become_small_and_then_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rank0.recording");
        let (file, wanted) = (File::create(&path).unwrap(), Capacity::of_events(64));
        let choose_beside = |others: usize| {
            for number in count_recordings(&path)..others {
                File::create(folder.path().join(format!("rank0-{number}.recording"))).unwrap();
            }
            choose(&path, &file, wanted).map_err(|error| error.raw_os_error())
        };
        assert_eq!(choose_beside(MOST_FULL), Ok(wanted));
        assert_eq!(choose_beside(MOST_FULL + 1), Ok(wanted.small()));
        assert_eq!(choose_beside(MOST), Ok(wanted.small()));
        assert_eq!(choose_beside(MOST + 1), Err(Some(libc::ENOSPC)));
    }

    #[test]
    fn a_recording_takes_a_small_share_of_the_free_room() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rank0.recording");
        let file = File::create(&path).unwrap();
        let free = measure_free(&file).unwrap();
        let of_bytes = |bytes: u64| Capacity::of_events(bytes / EVENT_BYTES as u64);
        let chosen = choose(&path, &file, of_bytes(free / 2)).unwrap();
        assert_eq!(chosen, of_bytes(free / 2).small(), "a sixteenth of the room");
        assert!(choose(&path, &file, of_bytes(free.saturating_mul(SMALL as u64))).is_err());
    }
}
