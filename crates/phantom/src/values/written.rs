//! Ranges of device memory written behind PyTorch's back: by collectives, and by kernels that a program launches
//! itself.
//!
//! The agent keeps the values of tensors (Note [Known values] in `python/oomph/agent/values/known/store.py`), and asks here
//! for ended values. It asks before each use of a value, so a question without an answer must cost nothing but the read
//! of a count.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::boundary::Out;

/// So many ranges are kept; beyond, everything counts as written.
const MOST_WRITTEN: usize = 256;

/// The number of noted ranges so far.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// Start and end of the ranges that were not taken yet.
static RANGES: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());

/// Notes that a range was written.
pub(crate) fn note(address: usize, bytes: usize) {
    let mut ranges = RANGES.lock().unwrap_or_else(PoisonError::into_inner);
    if ranges.len() == MOST_WRITTEN {
        drop(ranges);
        return note_anywhere();
    }
    ranges.push((address, address.saturating_add(bytes)));
    COUNT.fetch_add(1, Ordering::Release);
}

/// Notes that any memory may have been written: a kernel with unknown arguments ran.
pub(crate) fn note_anywhere() {
    let mut ranges = RANGES.lock().unwrap_or_else(PoisonError::into_inner);
    ranges.clear();
    ranges.push((0, usize::MAX));
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
    let range = RANGES.lock().unwrap_or_else(PoisonError::into_inner).pop();
    start.set_if_wanted(range.map_or(0, |(start, _)| start));
    end.set_if_wanted(range.map_or(0, |(_, end)| end));
    c_int::from(range.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take() -> Option<(usize, usize)> {
        let (mut start, mut end) = (0, 0);
        (oomph_take_written(Out::to(&mut start), Out::to(&mut end)) == 1).then_some((start, end))
    }

    #[test]
    fn every_range_is_given_once_and_too_many_are_everything() {
        while take().is_some() {}
        note(0x1000, 16);
        assert_eq!(take(), Some((0x1000, 0x1010)));
        assert_eq!(take(), None);
        for index in 0..=MOST_WRITTEN {
            note(index * 512, 16);
        }
        assert_eq!(take(), Some((0, usize::MAX)));
        assert_eq!(take(), None);
    }
}
