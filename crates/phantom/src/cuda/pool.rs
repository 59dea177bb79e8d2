//! Stream-ordered memory pools (`cudaMallocAsync`).
//!
//! A real pool's segments are the driver's secret. The model: a pool reserves what its programs hold at most, in pages,
//! and keeps it up to its release threshold. That is exact without fragmentation, and named as an assumption.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Code, OUT_OF_MEMORY, context};
use crate::ledger::{self, PAGE_BYTES};
use crate::space::{self, Kind};
use crate::{caller, journal, values};

#[derive(Clone, Copy, Debug, Default)]
struct Pool {
    used_bytes: u64,
    used_high_bytes: u64,
    reserved_bytes: u64,
    reserved_high_bytes: u64,
    release_threshold_bytes: u64,
}

static POOLS: Mutex<BTreeMap<u32, Pool>> = Mutex::new(BTreeMap::new());

/// Pools are `POOL_BASE + device`: pointers to nothing, recognised by value.
const POOL_BASE: usize = 0x0B00_0000;

fn lock() -> MutexGuard<'static, BTreeMap<u32, Pool>> {
    POOLS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The default pool of a device.
pub fn of_device(device: u32) -> usize {
    POOL_BASE + device as usize
}

fn device_of(pool: usize) -> u32 {
    pool.checked_sub(POOL_BASE).map_or(0, |device| device as u32)
}

/// Allocates from the pool of the calling thread's device.
pub fn allocate(bytes: usize) -> Result<usize, Code> {
    let device = context::current();
    let bytes = (bytes.max(1) as u64).checked_next_multiple_of(512).ok_or(OUT_OF_MEMORY)?;
    grow(device, bytes)?;
    space::place(Kind::Mapped, device, "pool", bytes as usize, 512).ok_or(OUT_OF_MEMORY)
}

fn grow(device: u32, bytes: u64) -> Result<(), Code> {
    let mut pools = lock();
    let pool = pools.entry(device).or_default();
    let missing = (pool.used_bytes + bytes).saturating_sub(pool.reserved_bytes).next_multiple_of(PAGE_BYTES);
    if missing > 0 {
        ledger::take(device, caller::owner(), missing).map_err(|_| OUT_OF_MEMORY)?;
        pool.reserved_bytes += missing;
    }
    pool.used_bytes += bytes;
    pool.used_high_bytes = pool.used_high_bytes.max(pool.used_bytes);
    pool.reserved_high_bytes = pool.reserved_high_bytes.max(pool.reserved_bytes);
    journal::assumption(
        "async-pool",
        "the driver's memory pools are taken to pack without fragmentation",
        pool.reserved_high_bytes,
    );
    Ok(())
}

/// Gives memory back to its pool; `false` for memory of another kind.
pub fn free(address: usize) -> bool {
    let Some(extent) = space::find(address).filter(|extent| extent.owner == "pool" && extent.address == address) else {
        return false;
    };
    space::take_out(address, Kind::Mapped);
    values::forget(address, extent.bytes);
    let mut pools = lock();
    let pool = pools.entry(extent.device).or_default();
    pool.used_bytes = pool.used_bytes.saturating_sub(extent.bytes as u64);
    let threshold = pool.release_threshold_bytes;
    shrink(extent.device, pool, threshold);
    true
}

/// Gives pages back to the device until so much is kept.
fn shrink(device: u32, pool: &mut Pool, keep_bytes: u64) {
    let floor = pool.used_bytes.max(keep_bytes).checked_next_multiple_of(PAGE_BYTES).unwrap_or(u64::MAX);
    if pool.reserved_bytes > floor {
        ledger::give_back(device, "pytorch", pool.reserved_bytes - floor);
        pool.reserved_bytes = floor;
    }
}

/// Gives back what a pool does not use, down to `keep_bytes`.
pub fn trim(pool: usize, keep_bytes: u64) {
    let device = device_of(pool);
    shrink(device, lock().entry(device).or_default(), keep_bytes);
}

/// An attribute by CUDA's number (`cudaMemPoolAttr`).
pub fn attribute(pool: usize, number: i32) -> Option<u64> {
    let pool = *lock().entry(device_of(pool)).or_default();
    Some(match number {
        1..=3 => 1, // reuse follows events, opportunistically, with internal dependencies
        4 => pool.release_threshold_bytes,
        5 => pool.reserved_bytes,
        6 => pool.reserved_high_bytes,
        7 => pool.used_bytes,
        8 => pool.used_high_bytes,
        _ => return None,
    })
}

/// Sets the release threshold, or resets a high-water mark; other attributes change nothing here.
pub fn set_attribute(pool: usize, number: i32, value: u64) {
    let mut pools = lock();
    let pool = pools.entry(device_of(pool)).or_default();
    match number {
        4 => pool.release_threshold_bytes = value,
        6 => pool.reserved_high_bytes = pool.reserved_bytes,
        8 => pool.used_high_bytes = pool.used_bytes,
        _ => {}
    }
}
