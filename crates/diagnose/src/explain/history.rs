//! What the history of one device amounts to.

use report::Breakdown;
use report::explain::{Counters, DeviceHistory, HistoryOom, HistoryPeak};
use trace::{Bytes, EventIndex, Totals};

use crate::measure::breakdown::breakdown;
use crate::measure::view::View;

/// Everything that is said of one device of the input number `input`.
pub(super) fn history(input: usize, view: &View) -> DeviceHistory {
    let peak = peak(view);
    DeviceHistory {
        input,
        device: view.device,
        events: u64::try_from(view.events.len()).unwrap_or(u64::MAX),
        breakdown: breakdown(view, peak.allocated_bytes).unwrap_or_else(|_| Breakdown::default()),
        at_dump: counters(view.found.at_end()),
        oom: view.last_oom().and_then(|event| oom(view, event)),
        peak,
        ..DeviceHistory::default()
    }
}

fn peak(view: &View) -> HistoryPeak {
    let peaks = view.found.peaks();
    let bytes = |peak: Option<trace::Peak>| peak.map_or(Bytes::ZERO, |peak| peak.bytes);
    HistoryPeak {
        allocated_bytes: bytes(peaks.allocated),
        reserved_bytes: bytes(peaks.reserved),
        whole: view.found.is_whole(),
        event: peaks.allocated.and_then(|peak| peak.at.event()).map(|event| event.0),
        place: peaks.allocated.map(|peak| view.place(peak.at)).unwrap_or_default(),
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

/// The failed request of an event.
fn oom(view: &View, event: EventIndex) -> Option<HistoryOom> {
    let said = view.events.get(event.0 as usize)?;
    Some(HistoryOom {
        event: event.0,
        requested_bytes: said.size,
        free_bytes: Bytes(said.address.0),
        counters: view.found.totals().nth(event.0 as usize).map(counters).unwrap_or_default(),
        place: view.place(event),
        location: view.own_line(said.stack),
    })
}
