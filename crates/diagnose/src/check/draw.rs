//! Draws the run that the page of `check` shows: its memory over time, its segments and its stacks.

use std::rc::Rc;

use report::explain::{DeviceMemory, Extent, Holder};
use report::{Breakdown, DevicePicture, RunPicture, Usage};
use trace::{Bytes, DeviceIndex, Process, Run};

use super::case::Case;
use super::measured::Measured;
use super::subject::find_subject;
use crate::measure::holders::Parts;
use crate::measure::picture::draw_device;
use crate::measure::usage::fullest;
use crate::measure::view::View;

/// The run of the page, and the process and device with the report's figures.
struct Drawn<'a, 'r> {
    run: &'a Run,
    process: &'a Process,
    device: DeviceIndex,
    usage: Usage,
    /// The breakdown of the need; `None` for the run under the limit.
    need: Option<&'r Breakdown>,
}

/// Returns the picture of the run that the report takes its figures from.
pub(super) fn draw(case: &Case, report: &Measured) -> RunPicture {
    let Some(drawn) = find_unlimited(case, report).or_else(|| find_limited(case, report)) else {
        return RunPicture::default();
    };
    let memory = list_holders(case, report, &drawn);
    RunPicture { is_unlimited: drawn.need.is_some(), memory, devices: draw_devices(case, &drawn) }
}

fn find_unlimited<'a, 'r>(case: &Case<'a>, report: &'r Measured) -> Option<Drawn<'a, 'r>> {
    let filling = report.need.filling.as_ref().filter(|_| report.verdict.is_oom())?;
    let run = &case.unlimited?.run;
    let (process, device, usage) = fullest(run, case.context())?;
    Some(Drawn { run, process, device, usage, need: Some(&filling.breakdown) })
}

fn find_limited<'a, 'r>(case: &Case<'a>, report: &'r Measured) -> Option<Drawn<'a, 'r>> {
    let (process, device, _) = find_subject(case)?;
    Some(Drawn { run: case.limited, process, device, usage: report.peak.usage, need: None })
}

/// Returns the holders of the device's memory: of the need, or of the named GPU. The categories are those of the moment
/// with the most allocated bytes; the other parts are differences of peaks, as in the report's figures.
fn list_holders<'a>(case: &Case<'a>, report: &Measured, drawn: &Drawn<'a, '_>) -> Option<DeviceMemory> {
    let Usage { allocated_bytes, reserved_bytes, device_bytes } = drawn.usage;
    let (total, extent, when) = match drawn.need {
        Some(_) => (report.need.usage.device_bytes, Extent::Used, "at the need, without a limit"),
        None => (case.total(), Extent::Device, "at the peak"),
    };
    let mut parts = Parts::of(total);
    take_allocated(&mut parts, drawn.need.unwrap_or(&report.breakdown), allocated_bytes);
    parts.take(Holder::Cached, reserved_bytes - allocated_bytes);
    parts.take(Holder::OutsidePytorch, device_bytes - reserved_bytes);
    parts.take(Holder::OtherProcesses, use_of_others(case, drawn) + stated_others(case, drawn));
    let rest = if drawn.need.is_some() { Holder::Unaccounted } else { Holder::Free };
    parts.take(rest, parts.left);
    DeviceMemory::new(total, extent, when.to_owned(), parts.list).ok()
}

fn take_allocated(parts: &mut Parts, breakdown: &Breakdown, allocated: Bytes) {
    if breakdown.parts().is_empty() {
        return parts.take(Holder::Allocated(None), allocated);
    }
    for part in breakdown.parts() {
        parts.take(Holder::Allocated(Some(part.category)), part.bytes);
    }
}

/// Returns the memory of the other processes on a shared device.
fn use_of_others<'a>(case: &Case<'a>, drawn: &Drawn<'a, '_>) -> Bytes {
    let shared = case.shared_in(drawn.run);
    shared.map_or(Bytes::ZERO, |shared| shared.together - drawn.usage.device_bytes)
}

/// Returns the stated memory of other processes; zero beside a need without a limit.
fn stated_others(case: &Case, drawn: &Drawn) -> Bytes {
    if drawn.need.is_some() { Bytes::ZERO } else { case.total() - case.available() }
}

/// Returns every device of the run with a history, the device of the report first.
fn draw_devices<'a>(case: &Case<'a>, drawn: &Drawn<'a, '_>) -> Vec<DevicePicture> {
    let processes = drawn.run.processes.iter().filter(|process| process.snapshot.is_some());
    let mut views: Vec<Rc<View>> = processes.flat_map(|process| case.views.list(process)).collect();
    let is_main =
        |view: &Rc<View>| std::ptr::eq(view.trace.process, drawn.process) && view.trace.device == drawn.device;
    views.sort_by_key(|view| !is_main(view));
    views.iter().map(|view| draw_device(view)).collect()
}
