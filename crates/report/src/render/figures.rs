//! The main figures of an `explain` report, as names and sentences, for the terminal and the page.

use trace::source_file::is_user_file;
use trace::text::{OomKind, OtherProcess, StatedBytes, StatedOom};

use super::answer::focus;
use super::layout::{keep_end, line_of, words_of, words_of_frame, words_of_growth};
use super::words::{words_of_device, words_of_kind, words_of_request};
use crate::explain::{DeviceHistory, ExplainReport, Fragmentation, HistoryOom, HistoryPeak};
use crate::words::count;

/// A figure: a name of at most 8 letters, and a text.
pub(super) type Figure = (&'static str, String);

/// The figures of the error, from its text or from the history, then of the peak and the history.
pub(super) fn explain(report: &ExplainReport) -> Vec<Figure> {
    let device = focus(report);
    let mut facts = match report.focus_oom.and_then(|index| report.ooms.get(index)) {
        Some(oom) => stated(oom, &report.folder),
        None => {
            device.and_then(|device| device.oom.as_ref()).map_or_else(Vec::new, |oom| recorded(oom, &report.folder))
        }
    };
    facts.extend(report.peak.as_ref().map(|peak| ("peak", words_of_peak(peak))));
    facts.extend(device.map_or_else(Vec::new, history));
    facts.extend(report.job.clone().map(|job| ("job", job)));
    facts
}

/// The error as a text states it; missing figures are left out.
fn stated(oom: &StatedOom, folder: &str) -> Vec<Figure> {
    let asked = oom.requested_bytes.map(words_of_request);
    let asked = asked.unwrap_or_else(|| match oom.kind {
        OomKind::Foreign => format!("{} got no memory", oom.framework.name()),
        kind => words_of_kind(kind).to_owned(),
    });
    let device = oom.device_index.map(|index| format!("on {}", words_of_device(oom.framework, index)));
    let by = if oom.requested_bytes.is_some() { "by" } else { "at" };
    let line = raised(oom, folder).map(|line| format!("{by} {line}"));
    let pytorch = [
        size(oom.allocated_bytes, "allocated"),
        size(oom.reserved(), "reserved"),
        size(oom.reserved_unallocated_bytes, "reserved but unallocated"),
        size(oom.private_pools_bytes, "in private pools"),
        size(oom.other_allocations_bytes, "in other Metal allocations"),
        size(oom.segment_reserve_bytes, "of address space for a segment"),
    ];
    let facts = [
        ("ran out", join(" ", [Some(asked), device, line])),
        ("device", join(", ", [size(oom.total_bytes, "in all"), size(oom.free_bytes, "free")])),
        (if oom.kind == OomKind::Foreign { "its own" } else { "PyTorch" }, join(", ", pytorch)),
        ("process", join(", ", [size(oom.process_bytes, "in use"), size(oom.allowed_bytes, "allowed")])),
        ("others", join(", ", oom.other_processes.iter().map(|other| Some(words_of_other(other))))),
    ];
    facts.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}

/// The error as a history records it.
fn recorded(oom: &HistoryOom, folder: &str) -> Vec<Figure> {
    let place = Some(words_of(&oom.place)).filter(|place| !place.is_empty()).map(|place| format!("at {place}"));
    let line = oom.location.as_ref().map(|location| format!("by {}", line_of(location, folder)));
    let counters = &oom.counters;
    vec![
        ("ran out", join(" ", [Some(format!("{} requested", oom.requested_bytes)), place, line])),
        ("device", format!("{} free", oom.free_bytes)),
        ("PyTorch", format!("{} allocated, {} reserved", counters.allocated_bytes, counters.reserved_bytes)),
    ]
}

fn history(device: &DeviceHistory) -> Vec<Figure> {
    let cache = Some(&device.fragmentation).filter(|cache| cache.segments > 0);
    let cache = cache.map(|cache| ("cache", words_of_cache(cache)));
    let growth = device.growth.as_ref().map(|growth| ("growth", words_of_growth(growth)));
    let words = [
        Some(count(device.events, "event", "events")),
        (device.steps > 0).then(|| count(device.steps, "step", "steps")),
    ];
    let events = (device.events > 0).then(|| ("history", join(", ", words)));
    [cache, growth, events].into_iter().flatten().collect()
}

fn words_of_peak(peak: &HistoryPeak) -> String {
    let place = Some(words_of(&peak.place)).filter(|place| !place.is_empty());
    let at = place.map_or_else(String::new, |place| format!(" at {place}"));
    let extent = match (peak.event, peak.whole) {
        (None, _) => "when the snapshot was taken: it has no history",
        (Some(_), true) => "over the whole program",
        (Some(_), false) => "of the recorded history; what came before it is unknown",
    };
    format!("{} allocated{at}; {} reserved at most ({extent})", peak.allocated_bytes, peak.reserved_bytes)
}

fn words_of_cache(cache: &Fragmentation) -> String {
    let Fragmentation { free_bytes, free_blocks, largest_free_block_bytes: largest, .. } = cache;
    let (split, used, all) = (cache.inactive_split_bytes, cache.used_segments, cache.segments);
    let blocks = count(*free_blocks, "block", "blocks");
    format!(
        "{free_bytes} free in {blocks}, the largest {largest}; {split} of it beside memory in use; \
         {used} of {all} segments in use"
    )
}

/// The innermost line outside installed packages, or the innermost line.
fn raised(oom: &StatedOom, folder: &str) -> Option<String> {
    let own = oom.traceback.iter().find(|frame| is_user_file(&frame.file, ""));
    let frame = own.or_else(|| oom.traceback.first())?;
    Some(keep_end(&words_of_frame(&frame.file, frame.line, &frame.function, folder), 60))
}

fn join(between: &str, texts: impl IntoIterator<Item = Option<String>>) -> String {
    texts.into_iter().flatten().collect::<Vec<_>>().join(between)
}

fn size(bytes: Option<StatedBytes>, words: &str) -> Option<String> {
    bytes.map(|bytes| format!("{} {words}", bytes.nearest))
}

fn words_of_other(other: &OtherProcess) -> String {
    let bytes = other.bytes.map_or_else(|| "an unknown amount".to_owned(), |bytes| bytes.nearest.to_string());
    format!("process {} has {bytes}", other.pid)
}
