//! The answer of `explain` in one sentence.

use super::blame::describe_change;
use super::layout::line_of;
use crate::explain::{DeviceHistory, ExplainReport};

/// The first finding with its line and its first change, or a sentence for a report without findings. A single sentence has no full stop.
pub(super) fn answer(report: &ExplainReport) -> String {
    if let Some(finding) = report.findings.first() {
        let line = finding.location.as_ref().map(|location| format!(" ({})", line_of(location, &report.folder)));
        let cause = finding.message.clone() + &line.unwrap_or_default();
        // The list of changes has the figure in parentheses.
        let change = describe_change(finding).map(|change| change.split(" (").next().unwrap_or(&change).to_owned());
        return change.map_or(cause.clone(), |change| format!("{cause}. {change}."));
    }
    if !report.ooms.is_empty() || focus(report).is_some_and(|device| device.oom.is_some()) {
        return "it ran out of memory, and the files do not show why".to_owned();
    }
    match (&report.peak, report.inputs.is_empty()) {
        (Some(peak), _) => {
            format!("no out-of-memory error and no problem found: {} allocated at most", peak.allocated_bytes)
        }
        (None, false) if !report.counters.is_empty() || !report.cards.is_empty() => {
            "no out-of-memory error, and no problem in the tables".to_owned()
        }
        (None, false) => {
            let files = if report.inputs.len() == 1 { "this text" } else { "these files" };
            format!("no out-of-memory error in {files}")
        }
        (None, true) => "nothing was read".to_owned(),
    }
}

/// The report's main device.
pub(super) fn focus(report: &ExplainReport) -> Option<&DeviceHistory> {
    report.devices.get(report.focus?)
}
