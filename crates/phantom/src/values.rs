//! What device memory holds, as far as it is known: bytes that were copied there from the host, and nothing else.
//!
//! # Note [Values on a phantom]
//!
//! Kernels do not run, so device memory reads as zeros unless it was copied there. Small copies (labels, indices,
//! sizes) are kept, as islands with their exact extent; large ones (weights, images) are not, and cost nothing.
//! Because kernels do not write, an island would outlive its tensor: PyTorch reuses the block for a result, and a
//! program that reads the result (`loss.item()`, the counter behind `nonzero`) would get an old label. So a read from
//! the start of a block takes an island that starts there only if it has just that extent: what is read whole was
//! written whole.
//!
//! # Note [Unknown reads]
//!
//! A program may decide anything by what it reads, above all the shape of its next tensor. So whoever wants to know is told
//! of each copy to the host of which a byte is in no island and no answer was set. What a kernel wrote over an island
//! is not seen: the island is answered, and nobody is told.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use wire::limit::KEPT_BYTES;

use crate::host;
use crate::ranges::is_device;

/// Islands together take no more host memory than this; the oldest addresses go first.
const KEPT_TOTAL_BYTES: usize = 256 << 20;
/// PyTorch's blocks start at multiples of this.
const BLOCK_ALIGNMENT: usize = 512;

#[derive(Debug, Default)]
struct Islands {
    by_address: BTreeMap<usize, Vec<u8>>,
    total_bytes: usize,
    /// What every scalar read gives, while an operator runs whose shape depends on it.
    answer: Option<u64>,
    /// What the next read of one byte at an address gives.
    verdicts: BTreeMap<usize, u8>,
}

static ISLANDS: Mutex<Islands> =
    Mutex::new(Islands { by_address: BTreeMap::new(), total_bytes: 0, answer: None, verdicts: BTreeMap::new() });

/// Who is told of a read of values that nothing computed, and of how many bytes it was.
type Listener = extern "C" fn(u64);

static LISTENER: Mutex<Option<Listener>> = Mutex::new(None);

fn lock() -> MutexGuard<'static, Islands> {
    ISLANDS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Islands {
    /// Removes what is known of a range; an island that sticks out keeps the part that does.
    fn forget(&mut self, address: usize, bytes: usize) {
        let end = address.saturating_add(bytes);
        let first = self.by_address.range(..address).next_back().map_or(address, |(&start, _)| start);
        let touched: Vec<usize> = self.by_address.range(first..end).map(|(&start, _)| start).collect();
        for start in touched {
            let Some(island) = self.by_address.get(&start) else { continue };
            let island_end = start + island.len();
            if island_end <= address {
                continue;
            }
            let before = (start < address).then(|| island[..address - start].to_vec());
            let after = (island_end > end).then(|| island[end - start..].to_vec());
            self.remove(start);
            if let Some(kept) = before {
                self.insert(start, kept);
            }
            if let Some(kept) = after {
                self.insert(end, kept);
            }
        }
    }

    fn remove(&mut self, start: usize) {
        if let Some(island) = self.by_address.remove(&start) {
            self.total_bytes -= island.len();
        }
    }

    fn insert(&mut self, start: usize, bytes: Vec<u8>) {
        self.total_bytes += bytes.len();
        self.by_address.insert(start, bytes);
        while self.total_bytes > KEPT_TOTAL_BYTES {
            let Some((&oldest, _)) = self.by_address.iter().next() else { return };
            self.remove(oldest);
        }
    }

    fn write(&mut self, address: usize, bytes: Vec<u8>) {
        self.forget(address, bytes.len());
        self.insert(address, bytes);
    }

    /// The bytes of a range as they are known, zeros elsewhere; gives how many are known. See Note [Values on a phantom].
    fn read(&self, address: usize, into: &mut [u8]) -> usize {
        host::clear(into.as_mut_ptr() as usize, into.len());
        let mut known = 0;
        let end = address.saturating_add(into.len());
        let is_block = address.is_multiple_of(BLOCK_ALIGNMENT);
        let first = self.by_address.range(..address).next_back().map_or(address, |(&start, _)| start);
        for (&start, island) in self.by_address.range(first..end) {
            let island_end = start + island.len();
            if island_end <= address || (is_block && start == address && island.len() != into.len()) {
                continue;
            }
            let (from, to) = (start.max(address), island_end.min(end));
            into[from - address..to - address].copy_from_slice(&island[from - start..to - start]);
            known += to - from;
        }
        known
    }
}

/// Copies between any two places; each is a device address or host memory of the caller's.
pub(crate) fn copy(dst: usize, src: usize, bytes: usize) {
    if bytes == 0 || dst == 0 || src == 0 {
        return;
    }
    match (is_device(dst), is_device(src)) {
        (true, true) => device_to_device(dst, src, bytes),
        (true, false) => host_to_device(dst, src, bytes),
        (false, true) => device_to_host(dst, src, bytes),
        // SAFETY: `cudaMemcpy`'s contract is that both host ranges are `bytes` long; they may overlap.
        (false, false) => unsafe { std::ptr::copy(src as *const u8, dst as *mut u8, bytes) },
    }
}

fn device_to_device(dst: usize, src: usize, bytes: usize) {
    let mut islands = lock();
    if bytes > KEPT_BYTES {
        islands.forget(dst, bytes);
        return;
    }
    let mut buffer = vec![0; bytes];
    islands.read(src, &mut buffer);
    islands.write(dst, buffer);
}

fn host_to_device(dst: usize, src: usize, bytes: usize) {
    if bytes > KEPT_BYTES {
        lock().forget(dst, bytes);
        return;
    }
    // SAFETY: `cudaMemcpy`'s contract is that the host range is `bytes` long and readable.
    let source = unsafe { std::slice::from_raw_parts(src as *const u8, bytes) };
    lock().write(dst, source.to_vec());
}

fn device_to_host(dst: usize, src: usize, bytes: usize) {
    // SAFETY: `cudaMemcpy`'s contract is that the host range is `bytes` long and the caller's to write.
    let target = unsafe { std::slice::from_raw_parts_mut(dst as *mut u8, bytes) };
    let known = known_values(src, target);
    if known < bytes {
        tell_listener(bytes);
    }
}

/// Writes what a read from `src` gives; gives how many of the bytes are known.
fn known_values(src: usize, target: &mut [u8]) -> usize {
    let mut islands = lock();
    if let ([byte], Some(verdict)) = (&mut *target, islands.verdicts.remove(&src)) {
        *byte = verdict;
        return 1;
    }
    match islands.answer {
        Some(answer) if target.len() <= size_of::<u64>() => {
            target.copy_from_slice(&answer.to_le_bytes()[..target.len()]);
            target.len()
        }
        _ => islands.read(src, target),
    }
}

/// Without any lock held: whoever listens may wait for a lock of its own that another caller of CUDA holds.
fn tell_listener(bytes: usize) {
    let listener = *LISTENER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(listener) = listener {
        listener(bytes as u64);
    }
}

/// Fills device memory, or host memory of the caller's, with one byte.
pub(crate) fn fill(dst: usize, value: u8, bytes: usize) {
    if bytes == 0 || dst == 0 {
        return;
    }
    if !is_device(dst) && value == 0 {
        host::clear(dst, bytes);
    } else if !is_device(dst) {
        // SAFETY: `cudaMemset`'s contract is that managed or pinned memory is `bytes` long and writable.
        unsafe { std::ptr::write_bytes(dst as *mut u8, value, bytes) };
    } else if value == 0 || bytes > KEPT_BYTES {
        lock().forget(dst, bytes);
    } else {
        lock().write(dst, vec![value; bytes]);
    }
}

/// Forgets what is known of a range: its memory was freed.
pub(crate) fn forget(address: usize, bytes: usize) {
    lock().forget(address, bytes);
}

/// From now on scalars that are read from the device are `value`: the agent says what a count that decides a shape
/// is assumed to be. See `python/oomph/agent/values.py`.
#[unsafe(no_mangle)]
pub extern "C" fn oomph_answer_next_read(value: u64) {
    lock().answer = Some(value);
}

/// The next read of one byte from `address` gives `value`: the agent says how a check of computed values is assumed to
/// end. Once, because the block will hold something else afterwards.
#[unsafe(no_mangle)]
pub extern "C" fn oomph_answer_at(address: usize, value: u8) {
    lock().verdicts.insert(address, value);
}

/// From now on `listener` is called in the reading thread, with the bytes read, where Note [Unknown reads] says; null ends
/// that. It may be called once more by a thread that is just reading.
#[unsafe(no_mangle)]
pub extern "C" fn oomph_on_unknown_read(listener: Option<Listener>) {
    *LISTENER.lock().unwrap_or_else(PoisonError::into_inner) = listener;
}

/// Scalars are read from the device again.
#[unsafe(no_mangle)]
pub extern "C" fn oomph_answer_clear() {
    lock().answer = None;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BASE: usize = 0x1234_0000_0000;

    fn read(islands: &Islands, address: usize, bytes: usize) -> Vec<u8> {
        let mut buffer = vec![0xee; bytes];
        islands.read(address, &mut buffer);
        buffer
    }

    #[test]
    fn a_read_from_the_start_of_a_block_needs_an_island_of_its_extent() {
        let mut islands = Islands::default();
        islands.write(BASE, vec![7; 256]);
        assert_eq!(read(&islands, BASE, 4), [0; 4], "a result in a reused block");
        assert_eq!(read(&islands, BASE, 64), [0; 64], "several results in a reused block");
        assert_eq!(read(&islands, BASE + 8, 4), [7; 4], "an element of the labels");
        assert_eq!(read(&islands, BASE, 256), [7; 256], "all labels");
        islands.write(BASE, vec![9; 4]);
        assert_eq!(read(&islands, BASE, 4), [9; 4], "a scalar that was copied there");
    }

    #[test]
    fn what_is_known_is_counted() {
        let mut islands = Islands::default();
        islands.write(BASE, vec![7; 256]);
        islands.write(BASE + 512, vec![8; 4]);
        let known = |address, bytes| islands.read(address, &mut vec![0; bytes]);
        assert_eq!(known(BASE, 256), 256, "all labels");
        assert_eq!(known(BASE, 4), 0, "a result in a reused block");
        assert_eq!(known(BASE + 200, 100), 56, "labels, and what follows them");
        assert_eq!(known(BASE + 256, 512), 4, "a scalar in between");
        assert_eq!(known(BASE + 1024, 8), 0, "nothing");
    }

    proptest! {
        /// The islands against a plain array of bytes.
        #[test]
        fn islands_equal_an_array(ops in prop::collection::vec((0usize..200, 1usize..60, any::<bool>(), 1u8..), 1..60)) {
            let mut islands = Islands::default();
            let mut array = [0u8; 300];
            for (offset, bytes, write, value) in ops {
                if write {
                    islands.write(BASE + 1 + offset, vec![value; bytes]);
                    array[offset..offset + bytes].fill(value);
                } else {
                    islands.forget(BASE + 1 + offset, bytes);
                    array[offset..offset + bytes].fill(0);
                }
                prop_assert_eq!(read(&islands, BASE + 1, 300), array.to_vec());
                prop_assert_eq!(islands.total_bytes, islands.by_address.values().map(Vec::len).sum::<usize>());
            }
        }
    }
}
