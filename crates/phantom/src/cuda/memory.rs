//! Memory: device, pinned, registered and managed; and the classification of pointers.
//!
//! # Note [Managed memory]
//!
//! Pages of managed memory move to the device when a kernel touches them or the program prefetches them, and the driver
//! moves them back to the host for any other request that needs the room ("CUDA C++ Programming Guide", Unified Memory:
//! oversubscription and eviction). So managed pages never decide if a program fits, and are not charged to the device,
//! not even after a prefetch: they only use spare memory. The journal names this as an assumption, with the largest
//! amount at one time. Paged optimizers (bitsandbytes) show in a report by this assumption.

use std::sync::atomic::{AtomicU64, Ordering};

use super::graph::Work;
use super::{Code, HOST_MEMORY_NOT_REGISTERED, INVALID_VALUE, OUT_OF_MEMORY, capture, context};
use crate::handle::Handle;
use crate::ranges::is_device;
use crate::space::{self, AddressRange, RangeKind};
use crate::{caller, journal, values};

/// Allocates device memory on the calling thread's device. Zero bytes are a null pointer, as in CUDA.
pub(crate) fn allocate(bytes: usize) -> Result<usize, Code> {
    capture::forbid_unsafe()?;
    if bytes == 0 {
        return Ok(0);
    }
    space::allocate(context::current(), caller::owner(), bytes).map_err(|_| OUT_OF_MEMORY)
}

/// Frees device or managed memory. Null is fine.
pub(crate) fn free(address: usize) -> Result<(), Code> {
    if address == 0 {
        return Ok(());
    }
    capture::forbid_unsafe()?;
    release(address)
}

/// Frees device or managed memory in the order of a stream.
pub(crate) fn free_on(stream: Handle, address: usize) -> Result<(), Code> {
    capture::note(stream, Work::Free)?;
    release(address)
}

fn release(address: usize) -> Result<(), Code> {
    if space::free(address).is_some() || free_managed(address).is_some() {
        return Ok(());
    }
    if super::pool::free(address) { Ok(()) } else { Err(INVALID_VALUE) }
}

/// Copies, and waits until it is done.
pub(crate) fn copy(dst: usize, src: usize, bytes: usize) -> Result<(), Code> {
    capture::forbid_unsafe()?;
    move_bytes(dst, src, bytes)
}

/// Copies in the order of a stream.
pub(crate) fn copy_on(stream: Handle, dst: usize, src: usize, bytes: usize) -> Result<(), Code> {
    capture::note(stream, Work::Copy)?;
    move_bytes(dst, src, bytes)
}

/// Copies between device and host, in either direction or neither. Nothing is copied from or to null.
pub(crate) fn move_bytes(dst: usize, src: usize, bytes: usize) -> Result<(), Code> {
    if bytes > 0 && (dst == 0 || src == 0) {
        return Err(INVALID_VALUE);
    }
    values::copy(dst, src, bytes);
    if is_device(dst) && values::is_foreign_write() {
        values::note_foreign_copy(dst, src, bytes);
    }
    Ok(())
}

/// Fills memory with one byte, in the order of a stream.
pub(crate) fn fill_on(stream: Handle, dst: usize, value: u8, bytes: usize) -> Result<(), Code> {
    capture::note(stream, Work::Fill)?;
    fill(dst, value, bytes)
}

/// Fills memory with one byte. Null is not filled.
pub(crate) fn fill(dst: usize, value: u8, bytes: usize) -> Result<(), Code> {
    if bytes > 0 && dst == 0 {
        return Err(INVALID_VALUE);
    }
    values::fill(dst, value, bytes);
    if is_device(dst) && values::is_foreign_write() {
        values::note_foreign_fill(dst, value, bytes);
    }
    Ok(())
}

/// Allocates pinned or managed memory: host memory without pages until the first touch.
pub(crate) fn allocate_host(kind: RangeKind, bytes: usize) -> Result<usize, Code> {
    if bytes == 0 {
        return Ok(0);
    }
    capture::forbid_unsafe()?;
    let address = space::map_host(kind, context::current(), "host", bytes).ok_or(OUT_OF_MEMORY)?;
    if kind == RangeKind::Managed {
        note_managed(bytes);
    }
    Ok(address)
}

/// Bytes of managed memory in use.
static MANAGED_BYTES: AtomicU64 = AtomicU64::new(0);

fn note_managed(bytes: usize) {
    let total = MANAGED_BYTES.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
    journal::record_assumption(
        "managed-memory",
        "managed memory (paged optimizer states) is evicted to the host where the device is short, and not counted on it",
        total,
    );
}

fn free_managed(address: usize) -> Option<()> {
    let bytes = space::find(address)?.bytes as u64;
    space::unmap_host(address, RangeKind::Managed)?;
    MANAGED_BYTES.fetch_sub(bytes, Ordering::Relaxed);
    Some(())
}

/// Frees pinned memory. Null is fine.
pub(crate) fn free_host(address: usize) -> Result<(), Code> {
    if address == 0 {
        return Ok(());
    }
    capture::forbid_unsafe()?;
    space::unmap_host(address, RangeKind::Host).ok_or(INVALID_VALUE)
}

/// Notes host memory of the program's own as pinned.
pub(crate) fn register(address: usize, bytes: usize) -> Result<(), Code> {
    if address == 0 || bytes == 0 {
        return Err(INVALID_VALUE);
    }
    space::note(AddressRange {
        address,
        bytes,
        kind: RangeKind::Registered,
        device: context::current(),
        owner: "host",
    });
    Ok(())
}

/// Forgets registered memory.
pub(crate) fn unregister(address: usize) -> Result<(), Code> {
    space::take_out(address, RangeKind::Registered).map(|_| ()).ok_or(HOST_MEMORY_NOT_REGISTERED)
}

/// The kind of a pointer, as CUDA reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PointerKind {
    /// Ordinary host memory.
    Unregistered,
    /// Pinned host memory.
    Host,
    /// Device memory.
    Device,
    /// Managed memory.
    Managed,
}

/// The kind of memory behind a pointer, and its range.
pub(crate) fn classify(address: usize) -> (PointerKind, Option<AddressRange>) {
    let extent = space::find(address);
    let kind = match extent.map(|extent| extent.kind) {
        None => PointerKind::Unregistered,
        Some(RangeKind::Host | RangeKind::Registered) => PointerKind::Host,
        Some(RangeKind::Managed) => PointerKind::Managed,
        Some(RangeKind::Device | RangeKind::Mapped | RangeKind::Symbol | RangeKind::Reserved) => PointerKind::Device,
    };
    (kind, extent)
}
