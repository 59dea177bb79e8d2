//! Look-ups in the records of a run.

use trace::run::{DeviceStats, EndReason};
use trace::{DeviceIndex, PhantomRecord, Process, Record, Run};

/// Returns the script's directory; empty without a process record.
pub(crate) fn script_dir(process: &Process) -> &str {
    let dir = process.records.iter().find_map(|record| match record {
        Record::Process { script_dir, .. } => Some(script_dir.as_str()),
        _ => None,
    });
    dir.unwrap_or_default()
}

/// Returns PyTorch's version.
pub(crate) fn torch(run: &Run) -> Option<&str> {
    records(run).find_map(|record| match record {
        Record::Process { torch, .. } => Some(torch.as_str()),
        _ => None,
    })
}

/// Returns the agent's records of all processes.
pub(crate) fn records(run: &Run) -> impl Iterator<Item = &Record> {
    run.processes.iter().flat_map(|process| &process.records)
}

/// Returns the phantom's records of all processes.
pub(crate) fn phantom_records(run: &Run) -> impl Iterator<Item = &PhantomRecord> {
    run.processes.iter().flat_map(|process| &process.phantom)
}

/// Returns the reason for the process's end, and its number of optimizer steps.
pub(crate) fn end(process: &Process) -> Option<(&EndReason, u32)> {
    process.records.iter().rev().find_map(|record| match record {
        Record::End { reason, steps, .. } => Some((reason, *steps)),
        _ => None,
    })
}

/// Returns the first `oom` record.
pub(crate) fn first_oom(process: &Process) -> Option<&Record> {
    process.records.iter().find(|record| matches!(record, Record::Oom { .. }))
}

/// Returns the last `oom` record.
pub(crate) fn last_oom(process: &Process) -> Option<&Record> {
    let mut records = process.records.iter().rev();
    records.find(|record| matches!(record, Record::Oom { .. }))
}

/// Returns the number of optimizer steps.
pub(crate) fn steps(process: &Process) -> u32 {
    let counted = process.records.iter().filter_map(|record| match record {
        Record::Step { step, .. } => Some(*step),
        Record::End { steps, .. } => Some(*steps),
        _ => None,
    });
    counted.max().unwrap_or_default()
}

/// Returns the figures of `memory_stats` for `device`, oldest first.
pub(crate) fn stats(process: &Process, device: DeviceIndex) -> impl Iterator<Item = &DeviceStats> {
    let all = process.records.iter().flat_map(|record| match record {
        Record::Step { devices, .. } | Record::End { devices, .. } => devices.as_slice(),
        Record::Oom { stats, .. } => std::slice::from_ref(stats),
        _ => &[],
    });
    all.filter(move |stats| stats.device == device.0)
}

/// Returns PyTorch's reason for recording no history.
pub(crate) fn unrecorded(process: &Process) -> Option<&str> {
    process.records.iter().find_map(|record| match record {
        Record::Unrecorded { reason } => Some(reason.as_str()),
        _ => None,
    })
}

/// Returns the devices with memory counted by the phantom.
fn in_ledger(process: &Process) -> impl Iterator<Item = DeviceIndex> + '_ {
    process.phantom.iter().filter_map(|record| match record {
        PhantomRecord::Memory { device, .. } => Some(DeviceIndex(*device)),
        _ => None,
    })
}

/// Returns the devices that the process used, in order.
pub(crate) fn devices(process: &Process) -> Vec<DeviceIndex> {
    let noted = process.records.iter().flat_map(|record| match record {
        Record::Step { devices, .. } | Record::End { devices, .. } => devices.as_slice(),
        Record::Oom { stats, .. } => std::slice::from_ref(stats),
        _ => &[],
    });
    let mut devices: Vec<DeviceIndex> = noted.map(|stats| DeviceIndex(stats.device)).collect();
    let traces = process.snapshot.iter().flat_map(|snapshot| (0..).zip(&snapshot.traces));
    devices.extend(traces.filter(|(_, trace)| !trace.is_empty()).map(|(index, _)| DeviceIndex(index)));
    if unrecorded(process).is_some() {
        devices.extend(in_ledger(process));
    }
    devices.sort_unstable();
    devices.dedup();
    devices
}
