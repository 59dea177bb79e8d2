//! Stream-ordered memory pools (`cudaMallocAsync`).
//!
//! A real pool's segments are the driver's secret. The model: a pool reserves what its programs hold at most, in pages,
//! and keeps it up to its release threshold. That is exact without fragmentation, and named as an assumption.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::graph::Work;
use super::{Code, INVALID_VALUE, OUT_OF_MEMORY, capture, context};
use crate::handle::Handle;
use crate::ledger::{self, Owner, PAGE_BYTES};
use crate::space::{self, RangeKind};
use crate::{caller, journal};

#[derive(Clone, Copy, Debug, Default)]
struct MemoryPool {
    /// The first owner: a pool's pages are shared, and are released under the name they were charged to.
    owner: Option<Owner>,
    used_bytes: u64,
    used_high_bytes: u64,
    reserved_bytes: u64,
    reserved_high_bytes: u64,
    release_threshold_bytes: u64,
}

static POOLS: Mutex<BTreeMap<u32, MemoryPool>> = Mutex::new(BTreeMap::new());

/// Pools are `POOL_BASE + device`: pointers to nothing, recognised by value.
const POOL_BASE: usize = 0x0B00_0000;

fn lock() -> MutexGuard<'static, BTreeMap<u32, MemoryPool>> {
    POOLS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The default pool of a device.
pub(crate) fn of_device(device: u32) -> usize {
    POOL_BASE + device as usize
}

fn device_of(pool: usize) -> Result<u32, Code> {
    let number = pool.checked_sub(POOL_BASE).and_then(|number| i32::try_from(number).ok());
    context::checked(number.ok_or(INVALID_VALUE)?).map_err(|_| INVALID_VALUE)
}

/// Allocates from the pool of the calling thread's device, in the order of a stream.
pub(crate) fn allocate_on(stream: Handle, bytes: usize) -> Result<usize, Code> {
    capture::note(stream, Work::Allocate)?;
    allocate(bytes)
}

fn allocate(bytes: usize) -> Result<usize, Code> {
    let device = context::current();
    let bytes = (bytes.max(1) as u64).checked_next_multiple_of(512).ok_or(OUT_OF_MEMORY)?;
    grow(device, bytes)?;
    let placed = space::place(RangeKind::Mapped, device, "pool", bytes as usize, 512);
    if placed.is_none() {
        give_up(device, bytes);
    }
    placed.ok_or(OUT_OF_MEMORY)
}

fn grow(device: u32, bytes: u64) -> Result<(), Code> {
    let mut pools = lock();
    let pool = pools.entry(device).or_default();
    let wanted = pool.used_bytes.checked_add(bytes).ok_or(OUT_OF_MEMORY)?;
    let missing = wanted.saturating_sub(pool.reserved_bytes).checked_next_multiple_of(PAGE_BYTES);
    let missing = missing.ok_or(OUT_OF_MEMORY)?;
    if missing > 0 {
        let owner = *pool.owner.get_or_insert_with(caller::owner);
        ledger::take(device, owner, missing).map_err(|_| OUT_OF_MEMORY)?;
        pool.reserved_bytes += missing;
    }
    pool.used_bytes = wanted;
    pool.used_high_bytes = pool.used_high_bytes.max(pool.used_bytes);
    pool.reserved_high_bytes = pool.reserved_high_bytes.max(pool.reserved_bytes);
    journal::record_assumption(
        "async-pool",
        "the driver's memory pools are taken to pack without fragmentation",
        pool.reserved_high_bytes,
    );
    Ok(())
}

/// Returns memory to its pool; `false` for memory of another kind.
pub(crate) fn free(address: usize) -> bool {
    let Some(extent) = space::find(address).filter(|extent| extent.owner == "pool" && extent.address == address) else {
        return false;
    };
    space::take_out(address, RangeKind::Mapped);
    give_up(extent.device, extent.bytes as u64);
    true
}

/// Takes bytes out of use, and releases the pages above the release threshold.
fn give_up(device: u32, bytes: u64) {
    let mut pools = lock();
    let pool = pools.entry(device).or_default();
    pool.used_bytes = pool.used_bytes.saturating_sub(bytes);
    let threshold = pool.release_threshold_bytes;
    shrink(device, pool, threshold);
}

/// Releases pages to the device, down to `keep_bytes`.
fn shrink(device: u32, pool: &mut MemoryPool, keep_bytes: u64) {
    let floor = pool.used_bytes.max(keep_bytes).checked_next_multiple_of(PAGE_BYTES).unwrap_or(u64::MAX);
    if pool.reserved_bytes > floor
        && let Some(owner) = pool.owner
    {
        ledger::give_back(device, owner, pool.reserved_bytes - floor);
        pool.reserved_bytes = floor;
    }
}

/// Releases a pool's unused pages, down to `keep_bytes`.
pub(crate) fn trim(pool: usize, keep_bytes: u64) -> Result<(), Code> {
    let device = device_of(pool)?;
    shrink(device, lock().entry(device).or_default(), keep_bytes);
    Ok(())
}

/// An attribute by CUDA's number (`cudaMemPoolAttr`).
pub(crate) fn attribute(pool: usize, number: i32) -> Result<u64, Code> {
    let pool = *lock().entry(device_of(pool)?).or_default();
    Ok(match number {
        1..=3 => 1, // reuse follows events, opportunistically, with internal dependencies
        4 => pool.release_threshold_bytes,
        5 => pool.reserved_bytes,
        6 => pool.reserved_high_bytes,
        7 => pool.used_bytes,
        8 => pool.used_high_bytes,
        _ => return Err(INVALID_VALUE),
    })
}

/// Sets the release threshold, or resets a high-water mark; other attributes change nothing here.
pub(crate) fn set_attribute(pool: usize, number: i32, value: u64) -> Result<(), Code> {
    let mut pools = lock();
    let pool = pools.entry(device_of(pool)?).or_default();
    match number {
        4 => pool.release_threshold_bytes = value,
        6 => pool.reserved_high_bytes = pool.reserved_bytes,
        8 => pool.used_high_bytes = pool.used_bytes,
        _ => {}
    }
    Ok(())
}
