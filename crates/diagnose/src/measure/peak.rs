//! The largest use of memory in a history.

use report::explain::HistoryPeak;
use trace::Bytes;

use super::view::View;

/// Returns the peaks of the allocated and the reserved bytes.
pub(crate) fn find_history_peak(view: &View) -> HistoryPeak {
    let peaks = view.trace.history.peaks();
    let bytes = |peak: Option<trace::Peak>| peak.map_or(Bytes::ZERO, |peak| peak.bytes);
    HistoryPeak {
        allocated_bytes: bytes(peaks.allocated),
        reserved_bytes: bytes(peaks.reserved),
        whole: view.trace.history.is_whole(),
        event: peaks.allocated.and_then(|peak| peak.at.event_before()).map(|event| event.0),
        place: peaks.allocated.map(|peak| view.place(peak.at)).unwrap_or_default(),
    }
}
