//! The peaks of a process on a device, and the choice of the fullest process and device.

use report::Usage;
use trace::run::owner::PYTORCH;
use trace::{Action, Bytes, DeviceIndex, EventIndex, History, Moment, Process, Run};

use super::view::View;

/// Returns the peaks of one device of one process. The allocator's counters take precedence over the trace, which may
/// be cut.
///
/// Without a phantom's ledger the device peak is the reserved bytes plus a context of `context` bytes.
pub(crate) fn usage(process: &Process, device: DeviceIndex, context: Bytes) -> Usage {
    let allocated = process.stats_of(device).map(|stats| stats.allocated_peak_bytes).max();
    let reserved = process.stats_of(device).map(|stats| stats.reserved_peak_bytes).max();
    let (allocated, reserved) = match (allocated, reserved) {
        (Some(allocated), Some(reserved)) => (Bytes(allocated), Bytes(reserved)),
        _ => from_trace(process, device),
    };
    // The counters of a killed process are those of an earlier moment.
    let of_pytorch = process.ledger.share_peak(device, PYTORCH).filter(|_| process.end.is_none());
    let reserved = of_pytorch.map_or(reserved, |peak| reserved.max(peak));
    let ledger = process.ledger.peak(device);
    Usage { allocated_bytes: allocated, reserved_bytes: reserved, device_bytes: ledger.unwrap_or(context + reserved) }
}

fn from_trace(process: &Process, device: DeviceIndex) -> (Bytes, Bytes) {
    let Some(snapshot) = &process.snapshot else {
        // The process was killed before it wrote its records: only PyTorch's share of the device is known.
        return (Bytes::ZERO, process.ledger.share_peak(device, PYTORCH).unwrap_or_default());
    };
    let found = History::of(snapshot, device);
    let bytes = |peak: Option<trace::Peak>| peak.map_or(Bytes::ZERO, |peak| peak.bytes);
    (bytes(found.peaks().allocated), bytes(found.peaks().reserved))
}

/// Returns the peaks of the requests after the last out-of-memory error, and the moment of the most allocated bytes, of a device with the
/// peaks `whole`; `None` if no request followed.
pub(crate) fn peak_after_errors(view: &View, whole: Usage) -> Option<(Usage, Moment)> {
    let first = view.trace.last_oom().map_or(0, |event| event.0 as usize + 1);
    let totals = (0..).map(EventIndex).zip(view.trace.history.totals()).zip(view.trace.events).skip(first);
    let at_requests: Vec<_> =
        totals.filter(|(_, event)| event.action == Action::Alloc).map(|(totals, _)| totals).collect();
    let (at, highest) = at_requests.iter().rev().max_by_key(|(_, totals)| totals.allocated)?;
    let allocated = highest.allocated;
    let reserved = at_requests.iter().map(|(_, totals)| totals.reserved).max()?;
    let reserved_bytes = reserved.max(allocated).min(whole.reserved_bytes);
    let outside = Bytes(whole.device_bytes.0.saturating_sub(whole.reserved_bytes.0));
    let usage = Usage {
        allocated_bytes: allocated.min(whole.allocated_bytes),
        reserved_bytes,
        device_bytes: outside + reserved_bytes,
    };
    Some((usage, (*at).into()))
}

/// Returns the peaks of the fullest device, over all processes; zero if no device was used.
pub(crate) fn find_peak(run: &Run, context: Bytes) -> Usage {
    fullest(run, context).map_or_else(Usage::default, |(_, _, usage)| usage)
}

/// Returns the process and device with the highest peak, and the peak; `None` if no device was used.
pub(crate) fn fullest(run: &Run, context: Bytes) -> Option<(&Process, DeviceIndex, Usage)> {
    fullest_of(run.processes.iter(), context)
}

/// Returns the same of some processes.
pub(crate) fn fullest_of<'a>(
    processes: impl Iterator<Item = &'a Process>,
    context: Bytes,
) -> Option<(&'a Process, DeviceIndex, Usage)> {
    let all = processes.filter_map(|process| {
        let (device, usage) = fullest_device(process, context)?;
        Some((process, device, usage))
    });
    // `max_by_key` would return the last of equals; readers expect the first rank.
    all.reduce(|best, next| {
        let more = next.2.device_bytes > best.2.device_bytes;
        if more { next } else { best }
    })
}

/// Returns the device on which `process` has its highest peak.
pub(crate) fn fullest_device(process: &Process, context: Bytes) -> Option<(DeviceIndex, Usage)> {
    let used = process.devices().into_iter();
    let all = used.map(|device| (device, usage(process, device, context)));
    all.reduce(|best, next| {
        let more = next.1.device_bytes > best.1.device_bytes;
        if more { next } else { best }
    })
}
