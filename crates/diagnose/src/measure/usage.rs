//! How much memory a process used at most on a device, and which process and device used most.

use report::Usage;
use trace::{Bytes, DeviceIndex, History, Process, Run};

use super::records::{devices, stats};

/// The peaks of one device of one process. The allocator's own counters come before the trace, which may be cut.
///
/// Without a phantom's ledger the device held the reserved bytes and a context of `context` bytes.
pub(crate) fn usage(process: &Process, device: DeviceIndex, context: Bytes) -> Usage {
    let allocated = stats(process, device).map(|stats| stats.allocated_peak_bytes).max();
    let reserved = stats(process, device).map(|stats| stats.reserved_peak_bytes).max();
    let (allocated, reserved) = match (allocated, reserved) {
        (Some(allocated), Some(reserved)) => (Bytes(allocated), Bytes(reserved)),
        _ => from_trace(process, device),
    };
    let ledger = process.device_peak(device);
    Usage { allocated_bytes: allocated, reserved_bytes: reserved, device_bytes: ledger.unwrap_or(context + reserved) }
}

fn from_trace(process: &Process, device: DeviceIndex) -> (Bytes, Bytes) {
    let Some(snapshot) = &process.snapshot else {
        // It was killed before it could write anything: what PyTorch had taken of the device is all that is known.
        return (Bytes::ZERO, process.share_peak(device, "pytorch").unwrap_or_default());
    };
    let found = History::of(snapshot, device);
    let bytes = |peak: Option<trace::Peak>| peak.map_or(Bytes::ZERO, |peak| peak.bytes);
    (bytes(found.peaks().allocated), bytes(found.peaks().reserved))
}

/// The process and device that used most, with what they used; `None` where no device was used at all.
pub(crate) fn fullest(run: &Run, context: Bytes) -> Option<(&Process, DeviceIndex, Usage)> {
    let all = run.processes.iter().filter_map(|process| {
        let (device, usage) = fullest_device(process, context)?;
        Some((process, device, usage))
    });
    // `max_by_key` would take the last of equals; the first rank is the one people look at.
    all.reduce(|best, next| {
        let more = next.2.device_bytes > best.2.device_bytes;
        if more { next } else { best }
    })
}

/// The device that `process` used most of.
pub(crate) fn fullest_device(process: &Process, context: Bytes) -> Option<(DeviceIndex, Usage)> {
    let used = devices(process).into_iter();
    let all = used.map(|device| (device, usage(process, device, context)));
    all.reduce(|best, next| {
        let more = next.1.device_bytes > best.1.device_bytes;
        if more { next } else { best }
    })
}
