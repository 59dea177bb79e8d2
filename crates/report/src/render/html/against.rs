//! The page of two runs: the answer, the figures of both, and the lines that differ at the peak.

use super::contents::Page;
use crate::against::{AgainstReport, LineDifference};
use crate::render::against::{
    headline, list_others, list_peaks, list_remarks, list_runs, list_settings, words_of_line, words_of_pair,
};

/// The contents of the page.
pub(super) fn page(report: &AgainstReport) -> Page<'_> {
    let line = |line: &LineDifference| {
        format!("{}: {}", words_of_line(&line.line, &report.folder), words_of_pair(&line.bytes))
    };
    let lines = |lines: &[LineDifference]| lines.iter().map(line).collect::<Vec<_>>();
    let focused = report.focused();
    Page {
        facts: list_runs(report).into_iter().chain(list_peaks(report)).collect(),
        upper_lists: vec![
            ("Settings", list_settings(report)),
            ("Lines that differ at the peak", focused.map(|device| lines(&device.lines)).unwrap_or_default()),
            ("Requests without a counterpart", focused.map(|device| lines(&device.unpaired_lines)).unwrap_or_default()),
        ],
        lower_lists: vec![("Further ranks and devices", list_others(report)), ("Notes", list_remarks(report))],
        folder: &report.folder,
        ..Page::of_answer(headline(report), &report.version, &report.folder)
    }
}
