//! The processes on a phantom device: those of the ledger, and the assumed other processes.

use std::ffi::c_uint;

use super::NvmlStatus;
use crate::boundary::{Out, Status};
use crate::device::PhysicalDevice;
use crate::ledger;

/// `NVML_ERROR_INSUFFICIENT_SIZE`.
const INSUFFICIENT_SIZE: NvmlStatus = NvmlStatus(7);
/// A process id for all assumed processes: above Linux's largest (`PID_MAX_LIMIT`), so no process has the id.
const OTHERS: c_uint = (1 << 22) + 1;

/// Bytes of a device used by all processes.
pub(super) fn used_bytes(which: PhysicalDevice) -> u64 {
    users(which).fold(0, |sum, (_, bytes)| sum.saturating_add(bytes))
}

/// Writes the processes on a device. `entry` makes an entry of the array in the caller's version of the function.
pub(super) fn list_processes<T>(
    which: PhysicalDevice,
    count: Out<c_uint>,
    infos: Out<T>,
    entry: fn(pid: c_uint, used: u64) -> T,
) -> Result<(), NvmlStatus> {
    let room: c_uint = count.get::<NvmlStatus>()?;
    let present: Vec<(c_uint, u64)> = users(which).collect();
    let number = present.len() as c_uint;
    count.set::<NvmlStatus>(number)?;
    if room < number {
        return Err(INSUFFICIENT_SIZE);
    }
    if number > 0 && infos.is_null() {
        return Err(NvmlStatus::INVALID);
    }
    infos.array(room as usize).write(present.into_iter().map(|(pid, used)| entry(pid, used)))
}

/// Writes the number of graphics processes: a phantom draws nothing.
pub(super) fn list_none(_which: PhysicalDevice, count: Out<c_uint>) -> Result<(), NvmlStatus> {
    count.set(0)
}

/// The processes that use a device; a hidden device is used by other processes only.
fn users(which: PhysicalDevice) -> impl Iterator<Item = (c_uint, u64)> {
    let assumed = Some((OTHERS, ledger::assumed_bytes())).filter(|(_, bytes)| *bytes > 0);
    ledger::list_processes(which).into_iter().chain(assumed)
}
