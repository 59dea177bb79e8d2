//! The need: the program's memory without a limit.
//!
//! # Note [Smallest device]
//! The cache of a device without a limit keeps the blocks of every size that a program ever asked for. Where sizes vary from step to step, most of
//! it is free at each moment, and a smaller device serves the same requests: PyTorch empties the cache before an error. The recorded requests
//! are replayed on smaller devices for the least that serves them all. Of steps that repeat, the cache is what the program settles at, and
//! flushes in each step would cost more than they save: a gain below an eighth is not taken.

use report::{Filling, Need, Oom, Usage};
use trace::Bytes;

use super::case::Case;
use super::verdict::find_reason;
use crate::judge::outcome::Outcome;
use crate::measure::breakdown::breakdown;
use crate::measure::sites::sites;
use crate::measure::usage::fullest;
use crate::measure::view::View;
use crate::rules::proof::replayed::Replayable;

/// The least gain of a smaller device, as a part of the reserved memory.
const LEAST_GAIN: u64 = 8;

/// The least gain of expandable segments, as a part of the reserved memory.
const LEAST_EXPANDABLE_GAIN: u64 = 25;

/// Returns the peaks without a limit; if the limit had no effect, the peaks under the limit.
pub(super) fn need(case: &Case, view: &View, limited: Usage, oom: Option<&Oom>) -> Need {
    let seen = oom.map_or(limited, |oom| at_least(case, view, limited, oom));
    let Some(unlimited) = case.unlimited else {
        let reason = oom.map(|_| "the program was not run without a limit".to_owned());
        return Need { usage: seen, at_least: reason, ..Need::default() };
    };
    // A request beyond any device fails even without a limit; the peak of such a run is no need.
    if Outcome::of(&unlimited.run) == Outcome::Ended {
        let reason = Some("one request is larger than any device".to_owned());
        return Need { usage: seen, at_least: reason, ..Need::default() };
    }
    let reason = find_reason(case, &unlimited.run, unlimited.launch.ended.as_ref());
    let reason = reason.map(|reason| format!("in the run without a limit {reason}"));
    let found = fullest(&unlimited.run, case.context());
    match found.filter(|(_, _, usage)| reason.is_none() || usage.device_bytes > seen.device_bytes) {
        Some((process, device, usage)) => {
            let view = case.views.find(process, device);
            let least = oom.and_then(|_| on_smallest(case, &view, usage));
            let unlimited_bytes = least.map(|_| usage.device_bytes);
            let filling = Some(filling(&view, usage));
            let usage = least.unwrap_or(usage);
            let expandable_bytes = oom.and_then(|_| with_expandable_segments(&view, usage));
            Need { usage, unlimited_bytes, expandable_bytes, at_least: reason, filling }
        }
        None => Need { usage: seen, at_least: reason, ..Need::default() },
    }
}

/// Returns the use of memory on the smallest device that serves the requests of a run without a limit; `None` if that is hardly less, or less
/// than the device that refused one of them. See Note [Smallest device].
fn on_smallest(case: &Case, view: &View, unlimited: Usage) -> Option<Usage> {
    let Usage { allocated_bytes, reserved_bytes, device_bytes } = unlimited;
    let is_less = |bytes: Bytes| bytes.0 < reserved_bytes.0 - reserved_bytes.0 / LEAST_GAIN;
    if !is_less(allocated_bytes) {
        return None;
    }
    let least = Replayable::of(view)?.least_bytes(allocated_bytes, reserved_bytes).filter(|least| is_less(*least))?;
    let usage = Usage { allocated_bytes, reserved_bytes: least, device_bytes: device_bytes - reserved_bytes + least };
    (usage.device_bytes > case.available()).then_some(usage)
}

/// Returns the need with expandable segments, if it is less by a part that matters.
fn with_expandable_segments(view: &View, usage: Usage) -> Option<Bytes> {
    let Usage { allocated_bytes, reserved_bytes, device_bytes } = usage;
    let is_less = |bytes: Bytes| bytes.0 < reserved_bytes.0 - reserved_bytes.0 / LEAST_EXPANDABLE_GAIN;
    if !is_less(allocated_bytes) {
        return None;
    }
    let least = Replayable::of(view)?.least_expandable_bytes(allocated_bytes, reserved_bytes)?;
    is_less(least).then(|| device_bytes - reserved_bytes + least)
}

/// Returns what fills the memory at the peak of a run without a limit.
fn filling(view: &View, usage: Usage) -> Filling {
    let Some(peak) = view.trace.history.peaks().allocated else { return Filling::default() };
    Filling {
        place: view.place(peak.at),
        breakdown: breakdown(view, usage.allocated_bytes).unwrap_or_default(),
        sites: sites(view, peak.at),
    }
}

/// Returns a lower bound of the need without an unlimited run: the bytes live at the error plus the refused request.
fn at_least(case: &Case, view: &View, limited: Usage, oom: &Oom) -> Usage {
    let live = view.trace.process.ooms.last().map_or(Bytes::ZERO, |oom| Bytes(oom.stats.allocated_bytes));
    let wanted = live + oom.requested_bytes.unwrap_or_default();
    Usage {
        allocated_bytes: limited.allocated_bytes.max(wanted),
        reserved_bytes: limited.reserved_bytes.max(wanted),
        device_bytes: limited.device_bytes.max(case.context() + wanted),
    }
}
