//! Known values in device memory: bytes copied there from the host, and nothing else.
//!
//! # Note [Values on a phantom]
//!
//! Kernels do not run, so device memory reads as zeros except where bytes were copied to it. Small copies (labels,
//! indices, sizes) are kept as islands with their exact extent; large copies (weights, images) are dropped and cost
//! nothing. Because kernels do not write, an island would outlive its tensor: PyTorch reuses the block for a result,
//! and a program that reads the result (`loss.item()`, the counter behind `nonzero`) would read an old label. So with
//! an agent, copied islands are hidden from reads: the agent knows the values of tensors, and their ends (Note [Known
//! values] in `python/oomph/agent/values/known/store.py`). Collectives move hidden islands, and their results are not hidden.
//! A read from the start of a block uses an island at that start only if the extents are equal: a tensor that is read
//! whole was written whole. Without an agent nobody tells of the ends of tensors: a scalar that is read after a
//! kernel may be a result in a reused block, and is unknown unless it was copied after the last kernel.
//!
//! # Note [Unknown reads]
//!
//! A program may decide anything by a value, above all the shape of its next tensor. The listener is called for every copy to the
//! host with a byte outside all islands and without a set answer.

pub(crate) mod written;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_int;
use std::sync::{Mutex, MutexGuard, PoisonError};

use wire::limit::KEPT_BYTES;

use crate::ranges::is_device;
use crate::{caller, host};

/// Host memory of all islands; beyond, the islands written longest ago are dropped.
const KEPT_TOTAL_BYTES: usize = 256 << 20;
/// The size of a scalar, such as the counter behind `nonzero`, at most.
const SCALAR_BYTES: usize = size_of::<u64>();
/// Alignment of PyTorch's blocks.
const BLOCK_ALIGNMENT: usize = 512;

/// Bytes at consecutive addresses, and when they were written.
#[derive(Debug)]
struct Island {
    bytes: Vec<u8>,
    written: u64,
    /// True if only collectives read the island.
    is_hidden: bool,
}

/// The reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadBy {
    /// The program, to the host.
    Host,
    /// A copy on the device.
    Device,
}

#[derive(Debug)]
struct Islands {
    by_address: BTreeMap<usize, Island>,
    /// Time of writing and address of every island.
    by_age: BTreeSet<(u64, usize)>,
    /// Number of islands written so far.
    clock: u64,
    /// The value of `clock` at the last launch of a kernel without an agent.
    launched: u64,
    total_bytes: usize,
    /// The value of every scalar read, while an operator runs whose shape depends on the value.
    answer: Option<u64>,
    /// The values of the next one-byte reads, by address.
    verdicts: BTreeMap<usize, u8>,
}

static ISLANDS: Mutex<Islands> = Mutex::new(Islands::EMPTY);

/// A function of the agent that is called with the size of each unknown read.
type Listener = extern "C" fn(u64);

static LISTENER: Mutex<Option<Listener>> = Mutex::new(None);

fn lock() -> MutexGuard<'static, Islands> {
    ISLANDS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Islands {
    const EMPTY: Islands = Islands {
        by_address: BTreeMap::new(),
        by_age: BTreeSet::new(),
        clock: 0,
        launched: 0,
        total_bytes: 0,
        answer: None,
        verdicts: BTreeMap::new(),
    };

    /// Removes the known values of a range; an island that reaches beyond the range keeps its outer parts.
    fn forget(&mut self, address: usize, bytes: usize) {
        let end = address.saturating_add(bytes);
        let first = self.by_address.range(..address).next_back().map_or(address, |(&start, _)| start);
        let touched: Vec<usize> = self.by_address.range(first..end).map(|(&start, _)| start).collect();
        for start in touched {
            let Some(island) = self.by_address.get(&start) else { continue };
            let (island_end, written, is_hidden) = (start + island.bytes.len(), island.written, island.is_hidden);
            if island_end <= address {
                continue;
            }
            let before = (start < address).then(|| island.bytes[..address - start].to_vec());
            let after = (island_end > end).then(|| island.bytes[end - start..].to_vec());
            self.remove(start);
            if let Some(bytes) = before {
                self.insert(start, Island { bytes, written, is_hidden });
            }
            if let Some(bytes) = after {
                self.insert(end, Island { bytes, written, is_hidden });
            }
        }
    }

    fn remove(&mut self, start: usize) {
        if let Some(island) = self.by_address.remove(&start) {
            self.total_bytes -= island.bytes.len();
            self.by_age.remove(&(island.written, start));
        }
    }

    fn insert(&mut self, start: usize, island: Island) {
        self.total_bytes += island.bytes.len();
        self.by_age.insert((island.written, start));
        self.by_address.insert(start, island);
        while self.total_bytes > KEPT_TOTAL_BYTES {
            let Some(&(_, oldest)) = self.by_age.first() else { return };
            self.remove(oldest);
        }
    }

    fn write(&mut self, address: usize, bytes: Vec<u8>) {
        self.forget(address, bytes.len());
        self.clock += 1;
        self.insert(address, Island { bytes, written: self.clock, is_hidden: false });
    }

    /// Copies a range if all its bytes are known.
    fn move_known(&mut self, dst: usize, src: usize, bytes: usize, is_hidden: bool) {
        let mut buffer = vec![0; if bytes > KEPT_BYTES { 0 } else { bytes }];
        if buffer.is_empty() || self.read(src, &mut buffer, ReadBy::Device) < bytes {
            self.forget(dst, bytes);
            return;
        }
        self.write(dst, buffer);
        if is_hidden {
            self.hide(dst, bytes);
        }
    }

    /// True if a hidden island touches a range.
    fn is_hidden(&self, address: usize, bytes: usize) -> bool {
        let end = address.saturating_add(bytes);
        let first = self.by_address.range(..address).next_back().map_or(address, |(&start, _)| start);
        let mut touched = self.by_address.range(first..end);
        touched.any(|(&start, island)| island.is_hidden && start + island.bytes.len() > address)
    }

    /// Hides the islands that a range touches.
    fn hide(&mut self, address: usize, bytes: usize) {
        let end = address.saturating_add(bytes);
        let first = self.by_address.range(..address).next_back().map_or(address, |(&start, _)| start);
        for (&start, island) in self.by_address.range_mut(first..end) {
            island.is_hidden |= start + island.bytes.len() > address;
        }
    }

    /// Copies the known bytes of a range, and zeros elsewhere; returns the number of known bytes. See Note [Values on a phantom].
    fn read(&self, address: usize, into: &mut [u8], reader: ReadBy) -> usize {
        host::clear(into.as_mut_ptr() as usize, into.len());
        let mut known = 0;
        let end = address.saturating_add(into.len());
        let is_block = address.is_multiple_of(BLOCK_ALIGNMENT);
        let is_scalar = into.len() <= SCALAR_BYTES && reader == ReadBy::Host;
        let first = self.by_address.range(..address).next_back().map_or(address, |(&start, _)| start);
        for (&start, island) in self.by_address.range(first..end) {
            let island_end = start + island.bytes.len();
            let is_for_others = island.is_hidden && reader == ReadBy::Host;
            let is_others = is_block && start == address && island.bytes.len() != into.len();
            let is_past = is_scalar && island.written <= self.launched;
            if is_for_others || island_end <= address || is_others || is_past {
                continue;
            }
            let (from, to) = (start.max(address), island_end.min(end));
            into[from - address..to - address].copy_from_slice(&island.bytes[from - start..to - start]);
            known += to - from;
        }
        known
    }
}

/// Copies bytes; each address is a device address or host memory of the caller.
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

/// A device-to-device copy of hidden bytes is hidden.
fn device_to_device(dst: usize, src: usize, bytes: usize) {
    let mut islands = lock();
    let is_hidden = islands.is_hidden(src, bytes);
    islands.move_known(dst, src, bytes, is_hidden);
}

/// Moves values between tensors as a collective does: the result is not hidden.
pub(crate) fn share(dst: usize, src: usize, bytes: usize) {
    if is_device(dst) && is_device(src) {
        lock().move_known(dst, src, bytes, false);
    } else {
        copy(dst, src, bytes);
    }
}

fn host_to_device(dst: usize, src: usize, bytes: usize) {
    if bytes > KEPT_BYTES {
        lock().forget(dst, bytes);
        return;
    }
    // SAFETY: `cudaMemcpy`'s contract is that the host range is `bytes` long and readable.
    let source = unsafe { std::slice::from_raw_parts(src as *const u8, bytes) };
    let mut islands = lock();
    islands.write(dst, source.to_vec());
    if has_listener() {
        islands.hide(dst, bytes);
    }
}

fn device_to_host(dst: usize, src: usize, bytes: usize) {
    // SAFETY: `cudaMemcpy`'s contract is that the host range is `bytes` long and the caller's to write.
    let target = unsafe { std::slice::from_raw_parts_mut(dst as *mut u8, bytes) };
    let known = read_device(src, target);
    if known < bytes {
        call_listener(bytes);
    }
}

/// Fills `target` as a read from `src` does; returns the number of known bytes.
fn read_device(src: usize, target: &mut [u8]) -> usize {
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
        _ => islands.read(src, target, ReadBy::Host),
    }
}

/// Notes the launch of a kernel.
pub(crate) fn note_launch() {
    if !has_listener() {
        let mut islands = lock();
        islands.launched = islands.clock;
    }
}

/// True if there is an agent, which knows the values of tensors.
fn has_listener() -> bool {
    LISTENER.lock().unwrap_or_else(PoisonError::into_inner).is_some()
}

/// Calls the listener, with no lock held: the listener may wait for a lock that another caller of CUDA holds.
fn call_listener(bytes: usize) {
    let listener = *LISTENER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(listener) = listener {
        listener(bytes as u64);
    }
}

/// Fills device memory, or host memory of the caller, with one byte.
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
        let mut islands = lock();
        islands.write(dst, vec![value; bytes]);
        if has_listener() {
            islands.hide(dst, bytes);
        }
    }
}

/// True if the running write is not PyTorch's: the agent sees PyTorch's own writes.
pub(crate) fn is_foreign_write() -> bool {
    has_listener() && !caller::is_pytorch()
}

/// Tells the agent of a copy that PyTorch did not issue. The source of a copy on the device may be a tensor whose
/// values only the agent knows, so the copied bytes are dropped.
pub(crate) fn note_foreign_copy(dst: usize, src: usize, bytes: usize) {
    if is_device(src) {
        forget(dst, bytes);
    }
    written::note(dst, bytes);
}

/// Tells the agent of a fill that PyTorch did not issue.
pub(crate) fn note_foreign_fill(dst: usize, value: u8, bytes: usize) {
    if bytes <= KEPT_BYTES {
        let mut islands = lock();
        islands.write(dst, vec![value; bytes]);
        islands.hide(dst, bytes);
    }
    written::note(dst, bytes);
}

/// For the agent: reads the bytes that were copied to a range, or filled in; returns 0 if one is not known. Only
/// correct directly after the write (Note [Values on a phantom]).
#[unsafe(no_mangle)]
pub extern "C" fn oomph_read_copied(address: usize, into: usize, bytes: usize) -> c_int {
    // SAFETY: the agent's contract is that the host range is `bytes` long and the agent's to write.
    let target = unsafe { std::slice::from_raw_parts_mut(into as *mut u8, bytes) };
    c_int::from(lock().read(address, target, ReadBy::Device) == bytes)
}

/// Forgets the values of a range whose memory was freed.
pub(crate) fn forget(address: usize, bytes: usize) {
    lock().forget(address, bytes);
}

/// Answers every read of a scalar from the device with `value`, until [`oomph_answer_clear`]: the assumed count that decides a shape.
/// See `python/oomph/agent/values/values.py`.
#[unsafe(no_mangle)]
pub extern "C" fn oomph_answer_scalars(value: u64) {
    lock().answer = Some(value);
}

/// Answers the next read of one byte from `address` with `value`: the assumed result of a check of computed values. Once, because the
/// block is reused afterwards.
#[unsafe(no_mangle)]
pub extern "C" fn oomph_answer_at(address: usize, value: u8) {
    lock().verdicts.insert(address, value);
}

/// Sets the listener of Note [Unknown reads], called in the reading thread with the number of bytes; null removes the listener. A thread
/// that is reading may call the former listener once more.
#[unsafe(no_mangle)]
pub extern "C" fn oomph_on_unknown_read(listener: Option<Listener>) {
    *LISTENER.lock().unwrap_or_else(PoisonError::into_inner) = listener;
}

/// Ends [`oomph_answer_scalars`].
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
        islands.read(address, &mut buffer, ReadBy::Host);
        buffer
    }

    #[test]
    fn a_read_from_the_start_of_a_block_needs_an_island_of_its_extent() {
        let mut islands = Islands::EMPTY;
        islands.write(BASE, vec![7; 256]);
        assert_eq!(read(&islands, BASE, 4), [0; 4], "a result in a reused block");
        assert_eq!(read(&islands, BASE, 64), [0; 64], "several results in a reused block");
        assert_eq!(read(&islands, BASE + 8, 4), [7; 4], "an element of the labels");
        assert_eq!(read(&islands, BASE, 256), [7; 256], "all labels");
        islands.write(BASE, vec![9; 4]);
        assert_eq!(read(&islands, BASE, 4), [9; 4], "a scalar that was copied there");
    }

    #[test]
    fn a_scalar_is_read_until_a_kernel_is_launched() {
        let mut islands = Islands::EMPTY;
        islands.write(BASE, vec![7; 8]);
        islands.write(BASE + 512, vec![8; 16]);
        assert_eq!(read(&islands, BASE, 8), [7; 8]);
        islands.launched = islands.clock;
        assert_eq!(read(&islands, BASE, 8), [0; 8], "a result in a reused block");
        assert_eq!(read(&islands, BASE + 520, 8), [0; 8], "a result in a part of a reused block");
        assert_eq!(read(&islands, BASE + 512, 16), [8; 16], "two labels");
        islands.write(BASE, vec![9; 8]);
        assert_eq!(read(&islands, BASE, 8), [9; 8], "a scalar that was copied after the kernel");
    }

    #[test]
    fn the_islands_written_longest_ago_are_dropped_wherever_they_lie() {
        const KEPT: usize = KEPT_TOTAL_BYTES / KEPT_BYTES;
        let mut islands = Islands::EMPTY;
        let address = |index: usize| BASE + (2 * KEPT - index) * KEPT_BYTES;
        for index in 0..=KEPT {
            islands.write(address(index), vec![1; KEPT_BYTES]);
        }
        let is_known = |index| islands.read(address(index), &mut vec![0; KEPT_BYTES], ReadBy::Host) == KEPT_BYTES;
        assert_eq!([0, 1, KEPT].map(is_known), [false, true, true]);
        assert_eq!(islands.by_age.len(), islands.by_address.len());
    }

    #[test]
    fn what_is_known_is_counted() {
        let mut islands = Islands::EMPTY;
        islands.write(BASE, vec![7; 256]);
        islands.write(BASE + 512, vec![8; 4]);
        let known = |address, bytes| islands.read(address, &mut vec![0; bytes], ReadBy::Host);
        assert_eq!(known(BASE, 256), 256, "all labels");
        assert_eq!(known(BASE, 4), 0, "a result in a reused block");
        assert_eq!(known(BASE + 200, 100), 56, "labels, and what follows them");
        assert_eq!(known(BASE + 256, 512), 4, "a scalar in between");
        assert_eq!(known(BASE + 1024, 8), 0, "nothing");
    }

    #[test]
    fn what_is_hidden_is_read_on_the_device_only() {
        let mut islands = Islands::EMPTY;
        islands.write(BASE, vec![7; 16]);
        islands.write(BASE + 512, vec![8; 16]);
        islands.hide(BASE, 16);
        let known = |address, reader| islands.read(address, &mut [0; 16], reader);
        assert_eq!(known(BASE, ReadBy::Host), 0);
        assert_eq!(known(BASE, ReadBy::Device), 16);
        assert_eq!(known(BASE + 512, ReadBy::Host), 16, "not hidden");
    }

    #[test]
    fn the_agent_reads_hidden_bytes_if_all_of_them_are_known() {
        const PLACE: usize = BASE + (1 << 40);
        lock().write(PLACE, vec![7; 16]);
        lock().hide(PLACE, 16);
        let mut bytes = [0_u8; 24];
        let mut read = |size| oomph_read_copied(PLACE, bytes.as_mut_ptr() as usize, size);
        assert_eq!([read(24), read(16)], [0, 1]);
        assert_eq!(bytes[..16], [7; 16]);
        forget(PLACE, 16);
    }

    proptest! {
        /// The islands against a plain array of bytes.
        #[test]
        fn islands_equal_an_array(ops in prop::collection::vec((0usize..200, 1usize..60, any::<bool>(), 1u8..), 1..60)) {
            let mut islands = Islands::EMPTY;
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
                prop_assert_eq!(islands.total_bytes, islands.by_address.values().map(|island| island.bytes.len()).sum::<usize>());
            }
        }
    }
}
