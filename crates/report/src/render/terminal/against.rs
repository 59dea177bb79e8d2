//! Two runs: the sentence, the figures of both, and the lines that differ at the peak.

use trace::Bytes;

use super::page::Page;
use super::{Detail, sections};
use crate::against::{AgainstReport, LineDifference};
use crate::render::against::{
    NAMES, headline, list_others, list_peaks, list_remarks, list_runs, words_of_line, words_of_pair,
};
use crate::render::layout::{COLUMNS, keep_end};

/// The number of lines of code in the short report.
const LINES: usize = 8;

pub(super) fn write(page: &mut Page, report: &AgainstReport, detail: Detail) {
    let styles = page.styles();
    let style = if report.is_equal() { styles.good } else { styles.unsure };
    page.styled_paragraph("", &headline(report), style);
    page.line("");
    for (name, words) in list_runs(report) {
        page.fact(name, &words);
    }
    for setting in &report.settings {
        page.fact(&setting.name, &words_of_pair(&setting.values));
    }
    for (name, words) in list_peaks(report) {
        page.fact(name, &words);
    }
    if let Some(device) = report.focused() {
        write_lines(page, "Lines that differ at the peak, the largest difference first", &device.lines, detail);
        if detail == Detail::Full {
            write_lines(page, "Requests without a counterpart, by line", &device.unpaired_lines, detail);
        }
    }
    write_others(page, report);
    sections::notes(page, list_remarks(report).iter().map(String::as_str));
}

fn write_lines(page: &mut Page, heading: &str, lines: &[LineDifference], detail: Detail) {
    if lines.is_empty() {
        return;
    }
    page.heading(heading);
    page.line(&format!("  {:>11}{:>11}", NAMES[0], NAMES[1]));
    let shown = if detail == Detail::Full { lines.len() } else { LINES };
    for line in lines.iter().take(shown) {
        let start = format!("  {:>11}{:>11}  ", line.bytes[0], line.bytes[1]);
        let only = only_in(line.bytes);
        let words = words_of_line(&line.line, page.folder()) + &only;
        page.line(&(start.clone() + &keep_end(&words, COLUMNS.saturating_sub(start.len()))));
    }
    if lines.len() > shown {
        page.line(&format!("  and {} more", lines.len() - shown));
    }
}

fn only_in(bytes: [Bytes; 2]) -> String {
    match bytes {
        [Bytes::ZERO, _] => format!(" (only in {})", NAMES[1]),
        [_, Bytes::ZERO] => format!(" (only in {})", NAMES[0]),
        _ => String::new(),
    }
}

/// The further ranks and devices.
fn write_others(page: &mut Page, report: &AgainstReport) {
    let others = list_others(report);
    if others.is_empty() {
        return;
    }
    page.heading("Further ranks and devices");
    for other in &others {
        page.paragraph("  - ", other);
    }
}
