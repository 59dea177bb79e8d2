//! The tables in a text, a sentence for each device.

use trace::text::StatedBytes;

use crate::explain::{ExplainReport, StatedCard, StatedCounters, StatedProcess};
use crate::render::terminal::page::Page;

/// The largest number of devices and processes listed.
const ROWS: usize = 16;

/// PyTorch's counters, then the GPUs of `nvidia-smi`.
pub(super) fn write(page: &mut Page, report: &ExplainReport) {
    if report.counters.is_empty() && report.cards.is_empty() {
        return;
    }
    page.heading("Tables in the text");
    for counters in report.counters.iter().take(ROWS) {
        page.paragraph("  - ", &words_of_counters(counters));
    }
    for card in report.cards.iter().take(ROWS) {
        page.paragraph("  - ", &words_of_card(card));
    }
}

fn words_of_counters(counters: &StatedCounters) -> String {
    let device = counters.device_index.map_or_else(String::new, |index| format!(" of cuda:{index}"));
    let peaks = [
        (counters.allocated_bytes, counters.allocated_peak_bytes, "allocated"),
        (counters.reserved_bytes, counters.reserved_peak_bytes, "reserved"),
    ];
    let mut words: Vec<String> = peaks.iter().filter_map(|&(now, peak, what)| now_and_peak(now, peak, what)).collect();
    words.extend(counters.inactive_split_bytes.map(|bytes| format!("{} in inactive splits", bytes.nearest)));
    words.extend(counters.retries.map(|n| format!("retries: {n}")));
    words.extend(counters.ooms.map(|n| format!("out-of-memory errors: {n}")));
    format!("{}{device}, line {}: {}", counters.source.name(), counters.line, words.join("; "))
}

fn now_and_peak(now: Option<StatedBytes>, peak: Option<StatedBytes>, what: &str) -> Option<String> {
    let peak = peak.map_or_else(String::new, |peak| format!(" (at most {})", peak.nearest));
    Some(format!("{} {what}{peak}", now?.nearest))
}

fn words_of_card(card: &StatedCard) -> String {
    let index = card.index.map_or_else(String::new, |index| format!(" {index}"));
    let name = card.name.as_deref().map_or_else(String::new, |name| format!(", {name}"));
    let used = match (card.used_bytes, card.total_bytes) {
        (Some(used), Some(total)) => format!(": {} of {} in use", used.nearest, total.nearest),
        (None, Some(total)) => format!(": {} in all", total.nearest),
        _ => String::new(),
    };
    let processes = card.processes.as_deref().map_or_else(String::new, words_of_processes);
    format!("nvidia-smi GPU{index}{name}{used}{processes}")
}

fn words_of_processes(processes: &[StatedProcess]) -> String {
    if processes.is_empty() {
        return "; no processes listed".to_owned();
    }
    let words = processes.iter().take(ROWS).map(|process| {
        let pid = process.pid.map_or_else(String::new, |pid| format!(" {pid}"));
        let held = process.bytes.map_or_else(|| "an amount not stated".to_owned(), |bytes| bytes.nearest.to_string());
        format!("; process{pid} ({}) has {held}", process.name)
    });
    words.collect()
}
