//! Two runs: the sentence, the figures of both, and the lines that differ at the peak.

use trace::Bytes;

use super::page::Page;
use super::{Detail, sections};
use crate::against::{AgainstReport, ComparedDevice, ComparedPeak, LineDifference};
use crate::render::against::{
    NAMES, answer, headline, words_of_alone, words_of_keeping, words_of_line, words_of_pair, words_of_surplus,
};
use crate::render::layout::{COLUMNS, grouped, keep_end};
use crate::words::count;

/// The number of lines of code in the short report.
const LINES: usize = 8;

pub(super) fn write(page: &mut Page, report: &AgainstReport, detail: Detail) {
    let styles = page.styles();
    let style = if report.is_equal() { styles.good } else { styles.unsure };
    page.styled_paragraph("", &headline(report), style);
    page.line("");
    for (name, run) in NAMES.into_iter().zip(&report.runs) {
        let kind = if run.is_dry { ", a dry run" } else { "" };
        let end = run.failed.as_ref().map_or_else(String::new, |end| format!(", {end}"));
        page.fact(name, &format!("{}{kind}{end}", page.path(&run.path).to_owned()));
    }
    for setting in &report.settings {
        page.fact(&setting.name, &words_of_pair(&setting.values));
    }
    if let Some(device) = report.focused() {
        write_figures(page, report, device);
        write_lines(page, "Lines that differ at the peak, the largest difference first", &device.lines, detail);
        if detail == Detail::Full {
            write_lines(page, "Requests without a counterpart, by line", &device.unpaired_lines, detail);
        }
    }
    write_others(page, report);
    sections::notes(page, remarks(report).iter().map(String::as_str));
}

fn write_figures(page: &mut Page, report: &AgainstReport, device: &ComparedDevice) {
    page.fact("peak", &words_of_pair(&device.peaks.map(|peak| peak.allocated_bytes)));
    let unused = |peak: ComparedPeak| peak.reserved_bytes - peak.allocated_bytes;
    let reserved = words_of_pair(&device.peaks.map(|peak| peak.reserved_bytes));
    page.fact("reserved", &format!("{reserved}; unallocated {}", words_of_pair(&device.peaks.map(unused))));
    if device.parting.is_some() {
        let without = words_of_pair(&device.unpaired_requests.map(grouped));
        page.fact(
            "requests",
            &format!("{} are equal; without a counterpart {without}", grouped(device.equal_requests)),
        );
    }
    if let Some(keeping) = &device.keeping {
        page.fact("freed", &words_of_keeping(keeping, &report.folder));
    }
    if let Some(surplus) = &device.surplus {
        page.fact("length", &words_of_surplus(surplus));
    }
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
    let others = report.devices.iter().enumerate().filter(|(index, _)| report.focus != Some(*index));
    let others: Vec<&ComparedDevice> = others.map(|(_, device)| device).collect();
    if others.is_empty() && report.alone.is_empty() {
        return;
    }
    page.heading("Further ranks and devices");
    for device in others {
        let text = format!("rank {}, cuda:{}: {}", device.rank, device.device.0, answer(report, device));
        page.paragraph("  - ", &text);
    }
    for alone in &report.alone {
        page.paragraph("  - ", &words_of_alone(alone));
    }
}

fn remarks(report: &AgainstReport) -> Vec<String> {
    let mut remarks = report.notes.clone();
    let moved = report.focused().map_or(0, |device| device.moved_lines);
    if moved > 0 {
        let lines = count(moved, "line was moved", "lines were moved");
        remarks.push(format!("{lines} by an edit of the program; the numbers are those of A"));
    }
    let [a, b] = &report.runs;
    let all = report.devices.iter().flat_map(|device| device.lines.iter().chain(&device.unpaired_lines));
    if a.is_dry != b.is_dry && all.into_iter().any(|line| line.line.is_of_library) {
        remarks.push(
            "memory of libraries, such as a workspace of cuBLAS or cuDNN, may differ between a phantom GPU and a real one"
                .to_owned(),
        );
    }
    remarks
}
