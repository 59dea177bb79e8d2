//! Ranges of device memory written behind PyTorch's back: by collectives, and by kernels that a program launches
//! itself.
//!
//! The agent keeps the values of tensors (Note [Known values] in `python/oomph/agent/values/known/store.py`), and asks here
//! for ended values. It asks before each use of a value, so a question without an answer must cost nothing but the read
//! of a count.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::boundary::Out;

/// So many ranges are kept; beyond, everything counts as written.
const MOST_WRITTEN: usize = 256;

/// Start and end of the ranges that were not taken yet.
#[derive(Debug)]
struct WrittenRanges(Vec<(usize, usize)>);

impl WrittenRanges {
    fn note(&mut self, address: usize, bytes: usize) {
        if self.0.len() == MOST_WRITTEN {
            self.note_anywhere();
        } else {
            self.0.push((address, address.saturating_add(bytes)));
        }
    }

    fn note_anywhere(&mut self) {
        self.0.clear();
        self.0.push((0, usize::MAX));
    }

    fn take(&mut self) -> Option<(usize, usize)> {
        self.0.pop()
    }
}

/// The number of noted ranges so far.
static COUNT: AtomicU64 = AtomicU64::new(0);
static RANGES: Mutex<WrittenRanges> = Mutex::new(WrittenRanges(Vec::new()));

fn lock() -> MutexGuard<'static, WrittenRanges> {
    RANGES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes that a range was written.
pub(crate) fn note(address: usize, bytes: usize) {
    let mut ranges = lock();
    ranges.note(address, bytes);
    COUNT.fetch_add(1, Ordering::Release);
}

/// Notes that any memory may have been written: a kernel with unknown arguments ran.
pub(crate) fn note_anywhere() {
    let mut ranges = lock();
    ranges.note_anywhere();
    COUNT.fetch_add(1, Ordering::Release);
}

/// The address of the number of ranges noted so far, an unsigned integer of 64 bits that lives as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn oomph_written_count() -> usize {
    COUNT.as_ptr() as usize
}

/// Removes a noted range and writes its start and end; returns 0 if none remains.
#[unsafe(no_mangle)]
pub extern "C" fn oomph_take_written(start: Out<usize>, end: Out<usize>) -> c_int {
    let range = lock().take();
    start.set_if_wanted(range.map_or(0, |(start, _)| start));
    end.set_if_wanted(range.map_or(0, |(_, end)| end));
    c_int::from(range.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Notes ranges by address and length, and takes all that remain.
    fn check(noted: &[(usize, usize)], expected: &[(usize, usize)]) {
        let mut ranges = WrittenRanges(Vec::new());
        for (address, bytes) in noted {
            ranges.note(*address, *bytes);
        }
        let taken: Vec<_> = std::iter::from_fn(|| ranges.take()).collect();
        assert_eq!(taken, expected, "{noted:?}");
    }

    #[test]
    fn every_range_is_given_once_and_too_many_are_everything() {
        let everything = (0, usize::MAX);
        let many: Vec<_> = (0..=MOST_WRITTEN + 1).map(|index| (index * 512, 16)).collect();
        check(&[], &[]);
        check(&[(0x1000, 16)], &[(0x1000, 0x1010)]);
        check(&[(usize::MAX - 1, 16)], &[(usize::MAX - 1, usize::MAX)]);
        check(&many[..=MOST_WRITTEN], &[everything]);
        check(&many, &[(many[MOST_WRITTEN + 1].0, many[MOST_WRITTEN + 1].0 + 16), everything]);
    }

    #[test]
    fn the_agent_takes_a_noted_range_by_its_functions() {
        let count = COUNT.load(Ordering::Acquire);
        note_anywhere();
        let (mut start, mut end) = (1, 0);
        assert_eq!(oomph_take_written(Out::to(&mut start), Out::to(&mut end)), 1);
        assert_eq!((start, end), (0, usize::MAX));
        assert!(COUNT.load(Ordering::Acquire) > count);
    }
}
