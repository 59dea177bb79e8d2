//! Summarizes the history of one device.

use report::explain::{Counters, DeviceHistory, Fragmentation, HistoryOom};
use report::{Breakdown, Growth};
use trace::Totals;

use crate::measure::breakdown::breakdown;
use crate::measure::peak::find_history_peak;
use crate::measure::picture::picture;
use crate::measure::view::View;

/// Returns the report's section on one device of input number `input`.
pub(super) fn history(input: usize, view: &View, growth: Option<Growth>) -> DeviceHistory {
    let peak = find_history_peak(view);
    DeviceHistory {
        input,
        device: view.trace.device,
        events: u64::try_from(view.trace.events.len()).unwrap_or(u64::MAX),
        breakdown: breakdown(view, peak.allocated_bytes).unwrap_or_else(|_| Breakdown::default()),
        at_dump: counters(view.trace.history.at_end()),
        oom: oom(view),
        fragmentation: fragmentation(view),
        growth,
        steps: steps(view),
        picture: picture(view),
        peak,
    }
}

fn counters(totals: Totals) -> Counters {
    Counters {
        allocated_bytes: totals.allocated,
        active_bytes: totals.active,
        reserved_bytes: totals.reserved,
        requested_bytes: totals.requested,
    }
}

/// Returns the last failed request.
fn oom(view: &View) -> Option<HistoryOom> {
    let failed = view.trace.history.ooms().last()?;
    let stack = view.trace.events.get(failed.event.0 as usize)?.stack;
    Some(HistoryOom {
        event: failed.event.0,
        requested_bytes: failed.requested,
        free_bytes: failed.device_free,
        counters: counters(failed.totals),
        place: view.place(failed.event),
        location: view.own_line(stack),
    })
}

/// Returns the free memory's layout at the error, else at the peak.
fn fragmentation(view: &View) -> Fragmentation {
    let error = view.trace.last_oom().map(trace::Moment::after);
    let Some(moment) = error.or_else(|| view.trace.history.peaks().allocated.map(|peak| peak.at)) else {
        return Fragmentation::default();
    };
    let found = view.trace.history.state_after(moment).fragmentation();
    Fragmentation {
        free_bytes: found.free,
        largest_free_block_bytes: found.largest_free_block,
        inactive_split_bytes: found.inactive_split,
        free_blocks: found.free_blocks,
        used_segments: found.used_segments,
        segments: found.segments,
    }
}

/// Returns the number of steps in the history.
fn steps(view: &View) -> u32 {
    let steps = view.timeline.stretches().iter().filter_map(|stretch| stretch.at).map(|(step, _)| step);
    steps.max().unwrap_or_default()
}
