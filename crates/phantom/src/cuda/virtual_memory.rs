//! The driver's virtual memory: physical allocations, reserved addresses, and mappings between them.
//!
//! A physical allocation is charged at its creation. It is released after the release of its handle *and* of its last
//! mapping, as in CUDA: PyTorch's expandable segments release the handle while the mapping lives.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Code, INVALID_VALUE, OUT_OF_MEMORY};
use crate::caller;
use crate::handle::{Handle, Table};
use crate::ledger::{self, Owner};
use crate::space::{self, RangeKind};

/// The granularity of physical allocations.
pub(crate) const GRANULARITY: usize = ledger::PAGE_BYTES as usize;

#[derive(Clone, Copy, Debug)]
struct Physical {
    device: u32,
    owner: Owner,
    bytes: usize,
    mappings: u32,
    is_released: bool,
}

static PHYSICAL: Table<Physical> = Table::new();
/// The mappings, by their addresses.
static MAPPINGS: Mutex<BTreeMap<usize, Mapping>> = Mutex::new(BTreeMap::new());

/// A physical allocation that is shown at an address.
#[derive(Clone, Copy, Debug)]
struct Mapping {
    bytes: usize,
    handle: usize,
}

fn lock() -> MutexGuard<'static, BTreeMap<usize, Mapping>> {
    MAPPINGS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates a physical allocation.
pub(crate) fn create(device: u32, bytes: usize) -> Result<Handle, Code> {
    if bytes == 0 || !bytes.is_multiple_of(GRANULARITY) {
        return Err(INVALID_VALUE);
    }
    let owner = caller::owner();
    ledger::take(device, owner, bytes as u64).map_err(|_| OUT_OF_MEMORY)?;
    Ok(PHYSICAL.insert(Physical { device, owner, bytes, mappings: 0, is_released: false }))
}

/// Releases the handle of a physical allocation.
pub(crate) fn release(handle: Handle) -> Result<(), Code> {
    PHYSICAL.with(handle, |physical| physical.is_released = true).ok_or(INVALID_VALUE)?;
    collect(handle);
    Ok(())
}

/// The device and size of a physical allocation.
pub(crate) fn describe(handle: Handle) -> Result<(u32, usize), Code> {
    PHYSICAL.with(handle, |physical| (physical.device, physical.bytes)).ok_or(INVALID_VALUE)
}

fn collect(handle: Handle) {
    let is_dead = PHYSICAL.with(handle, |physical| physical.is_released && physical.mappings == 0);
    if is_dead == Some(true)
        && let Some(physical) = PHYSICAL.remove(handle)
    {
        ledger::give_back(physical.device, physical.owner, physical.bytes as u64);
    }
}

/// Reserves addresses.
pub(crate) fn reserve(device: u32, bytes: usize, alignment: usize) -> Result<usize, Code> {
    if bytes == 0 || !bytes.is_multiple_of(GRANULARITY) {
        return Err(INVALID_VALUE);
    }
    space::place(RangeKind::Reserved, device, "reserved", bytes, alignment.max(GRANULARITY)).ok_or(OUT_OF_MEMORY)
}

/// Frees reserved addresses.
pub(crate) fn unreserve(address: usize) -> Result<(), Code> {
    space::take_out(address, RangeKind::Reserved).map(|_| ()).ok_or(INVALID_VALUE)
}

/// Maps a physical allocation, whole, at an unmapped address inside a reservation. Look-ups of pointers still find the
/// whole reservation.
pub(crate) fn map(address: usize, bytes: usize, handle: Handle) -> Result<(), Code> {
    let reservation = space::find(address).filter(|extent| extent.kind == RangeKind::Reserved).ok_or(INVALID_VALUE)?;
    let end = address.checked_add(bytes).ok_or(INVALID_VALUE)?;
    let (_, physical_bytes) = describe(handle)?;
    if end > reservation.address + reservation.bytes || physical_bytes != bytes {
        return Err(INVALID_VALUE);
    }
    let mut mappings = lock();
    if mappings.range(..end).next_back().is_some_and(|(&at, mapping)| at + mapping.bytes > address) {
        return Err(INVALID_VALUE);
    }
    PHYSICAL.with(handle, |physical| physical.mappings += 1).ok_or(INVALID_VALUE)?;
    mappings.insert(address, Mapping { bytes, handle: handle as usize });
    Ok(())
}

/// Unmaps all mappings in a range.
pub(crate) fn unmap(address: usize, bytes: usize) -> Result<(), Code> {
    let end = address.saturating_add(bytes);
    let inside: Vec<Mapping> = {
        let mut mappings = lock();
        let starts: Vec<usize> = mappings.range(address..end).map(|(&at, _)| at).collect();
        starts.iter().filter_map(|at| mappings.remove(at)).collect()
    };
    if inside.is_empty() {
        return Err(INVALID_VALUE);
    }
    crate::values::forget(address, bytes);
    for mapping in inside {
        let handle = mapping.handle as Handle;
        PHYSICAL.with(handle, |physical| physical.mappings = physical.mappings.saturating_sub(1));
        collect(handle);
    }
    Ok(())
}

/// The physical allocation that an address shows.
pub(crate) fn mapped_at(address: usize) -> Result<Handle, Code> {
    let mappings = lock();
    let (&at, mapping) = mappings.range(..=address).next_back().ok_or(INVALID_VALUE)?;
    if address < at + mapping.bytes { Ok(mapping.handle as Handle) } else { Err(INVALID_VALUE) }
}

/// Opens memory that another process exported: the addresses are here, the memory is charged there.
pub(crate) fn open_foreign(device: u32, bytes: usize) -> Result<usize, Code> {
    space::place(RangeKind::Mapped, device, "foreign", bytes, GRANULARITY).ok_or(OUT_OF_MEMORY)
}
