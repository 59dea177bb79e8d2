//! One line per verdict and finding, each of which stands alone: for logs, chats and editors.

use std::fmt::Write as _;

use super::layout::{line_of, words_of};
use crate::check::{CheckReport, Verdict};
use crate::finding::Finding;

/// The verdict, then the findings, one line each.
pub fn check(report: &CheckReport) -> String {
    let mut text = verdict(report);
    text.push('\n');
    for finding in &report.findings {
        text.push_str(&line(finding, &report.folder));
        text.push('\n');
    }
    text
}

fn verdict(report: &CheckReport) -> String {
    let gpu = &report.gpu;
    let device = format!("{} of {}", gpu.name, gpu.total_bytes);
    match &report.verdict {
        Verdict::Fits => format!("fits: {device}, peak {} on the device", report.peak.usage.device_bytes),
        Verdict::Oom => {
            format!("does not fit: {device}, needs {} on the device{}", report.need.device_bytes, ran_out(report))
        }
        Verdict::Incomplete { reason } => format!("incomplete: {device}, {reason}"),
    }
}

fn ran_out(report: &CheckReport) -> String {
    let place = report.oom.as_ref().map(|oom| words_of(&oom.place));
    place.filter(|place| !place.is_empty()).map_or_else(String::new, |place| format!(", ran out at {place}"))
}

/// `train.py:41: warning[growing-memory] message`; without the place where there is none.
fn line(finding: &Finding, folder: &str) -> String {
    let mut text = String::new();
    if let Some(location) = &finding.location {
        text = line_of(location, folder) + ": ";
    }
    let word = finding.severity.word();
    let rest = write!(text, "{word}[{}] {}", finding.rule, finding.message);
    debug_assert!(rest.is_ok(), "writing to a String does not fail");
    text
}
