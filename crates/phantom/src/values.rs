//! Known values in device memory: bytes copied there from the host, and nothing else. The rules are methods of the
//! value `Islands` in `values/islands.rs`.
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

mod islands;
pub(crate) mod written;

use std::ffi::c_int;
use std::sync::{Mutex, MutexGuard, PoisonError};

use wire::limit::KEPT_BYTES;

use self::islands::{Islands, ReadBy};
use crate::ranges::is_device;
use crate::{caller, host};

static ISLANDS: Mutex<Islands> = Mutex::new(Islands::EMPTY);

/// A function of the agent that is called with the size of each unknown read.
type Listener = extern "C" fn(u64);

static LISTENER: Mutex<Option<Listener>> = Mutex::new(None);

fn lock() -> MutexGuard<'static, Islands> {
    ISLANDS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Copies bytes; each address is a device address or host memory of the caller.
pub(crate) fn copy(dst: usize, src: usize, bytes: usize) {
    if bytes == 0 || dst == 0 || src == 0 {
        return;
    }
    match (is_device(dst), is_device(src)) {
        (true, true) => lock().copy_on_device(dst, src, bytes),
        (true, false) => host_to_device(dst, src, bytes),
        (false, true) => device_to_host(dst, src, bytes),
        // SAFETY: `cudaMemcpy`'s contract is that both host ranges are `bytes` long; they may overlap.
        (false, false) => unsafe { std::ptr::copy(src as *const u8, dst as *mut u8, bytes) },
    }
}

/// Moves values between tensors as a collective does: the result is not hidden.
pub(crate) fn share(dst: usize, src: usize, bytes: usize) {
    if is_device(dst) && is_device(src) {
        lock().share(dst, src, bytes);
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
    lock().copy_from_host(dst, source, has_listener());
}

fn device_to_host(dst: usize, src: usize, bytes: usize) {
    // SAFETY: `cudaMemcpy`'s contract is that the host range is `bytes` long and the caller's to write.
    let target = unsafe { std::slice::from_raw_parts_mut(dst as *mut u8, bytes) };
    let known = lock().read_to_host(src, target);
    if known < bytes {
        call_listener(bytes);
    }
}

/// Notes the launch of a kernel.
pub(crate) fn note_launch() {
    if !has_listener() {
        lock().note_launch();
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
    } else {
        lock().fill(dst, value, bytes, has_listener());
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
    lock().fill_foreign(dst, value, bytes);
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
    lock().set_answer(Some(value));
}

/// Answers the next read of one byte from `address` with `value`: the assumed result of a check of computed values. Once, because the
/// block is reused afterwards.
#[unsafe(no_mangle)]
pub extern "C" fn oomph_answer_at(address: usize, value: u8) {
    lock().set_verdict(address, value);
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
    lock().set_answer(None);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_reads_hidden_bytes_if_all_of_them_are_known() {
        const PLACE: usize = 0x2234_0000_0000;
        lock().copy_from_host(PLACE, &[7; 16], true);
        let mut bytes = [0_u8; 24];
        let mut read = |size| oomph_read_copied(PLACE, bytes.as_mut_ptr() as usize, size);
        assert_eq!([read(24), read(16)], [0, 1]);
        assert_eq!(bytes[..16], [7; 16]);
        forget(PLACE, 16);
    }
}
