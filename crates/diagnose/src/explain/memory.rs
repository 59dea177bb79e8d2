//! The parts of a device's memory: the text's statement on the device, the history's record of PyTorch's part.

use report::explain::{DeviceMemory, Extent, Holder};
use trace::{Bytes, Moment};

use crate::measure::holders::Parts;
use crate::measure::view::View;
use crate::rules::facts::input::Facts;
use crate::rules::facts::known::Known;

/// Returns the parts of the device's memory; `None` if the device's sizes are unknown.
pub(super) fn memory(facts: &Facts) -> Option<DeviceMemory> {
    of_device(facts).or_else(|| of_reserved(facts.view?, facts.moment()?, facts.is_at_error()))
}

/// Splits the device's total as the error states it. The error's numbers are rounded: the process's memory outside
/// PyTorch is at most the unassigned rest, and the remainder is called unaccounted.
fn of_device(facts: &Facts) -> Option<DeviceMemory> {
    let failure = facts.failure.as_ref().filter(|failure| failure.is_fatal)?;
    let total = facts.device.total?.nearest();
    let (allocated, reserved) = (failure.allocated?.nearest(), failure.reserved?.nearest());
    let held = failure.others.iter().filter_map(|other| Some(other.bytes?.nearest)).sum();
    let mut parts = Parts::of(total);
    parts.take(Holder::Free, failure.free.map(Known::nearest).unwrap_or_default());
    match facts.view.zip(facts.moment()) {
        Some((view, moment)) => parts.take_contents(view, moment),
        None => parts.take(Holder::Allocated(None), allocated),
    }
    parts.take(Holder::Cached, reserved - allocated);
    let left = parts.left - held;
    let outside =
        failure.process.map(|process| left.max(process.value.lowest - reserved).min(process.value.highest - reserved));
    parts.take(Holder::OutsidePytorch, outside.unwrap_or_default());
    parts.take(Holder::OtherProcesses, held);
    parts.take(Holder::Unaccounted, parts.left);
    DeviceMemory::new(total, Extent::Device, "at the error".to_owned(), parts.list).ok()
}

/// Splits PyTorch's reserved bytes; a snapshot does not state the rest of the device.
fn of_reserved(view: &View, moment: Moment, is_at_error: bool) -> Option<DeviceMemory> {
    let totals = moment.event_before().and_then(|event| view.trace.history.totals().nth(event.0 as usize));
    let total = totals.unwrap_or(view.trace.history.at_start()).reserved;
    let mut parts = Parts::of(total);
    parts.take_contents(view, moment);
    parts.take(Holder::Cached, parts.left);
    let when = if is_at_error { "at the error" } else { "at the peak" };
    DeviceMemory::new(total, Extent::Reserved, when.to_owned(), parts.list).ok().filter(|_| total > Bytes::ZERO)
}
