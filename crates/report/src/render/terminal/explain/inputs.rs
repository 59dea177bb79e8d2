//! The inputs of the report: errors, devices and files.

use trace::text::StatedOom;

use crate::explain::{DeviceHistory, ExplainReport};
use crate::render::layout::{COLUMNS, keep_end};
use crate::render::terminal::page::Page;
use crate::render::words::{is_printed_often, name_of_input, path_of_input, words_of_error, words_of_input};
use crate::sanitize::columns;
use crate::words::count;

/// The number of rows in a list.
const ROWS: usize = 16;

/// Every error, if there are several, or one that is printed often.
pub(super) fn errors(page: &mut Page, report: &ExplainReport) {
    let all: u64 = report.ooms.iter().map(StatedOom::count).sum();
    if all < 2 && !report.ooms.iter().any(is_printed_often) {
        return;
    }
    let errors = count(all, "error", "errors");
    page.heading(&format!("{errors} (* is the one that the report is about)"));
    for (index, oom) in report.ooms.iter().enumerate().take(ROWS) {
        page.paragraph(mark(report.focus_oom == Some(index)), &words_of_error(report, index, oom));
    }
    more(page, report.ooms.len());
}

/// Every device, if there are several.
pub(super) fn devices(page: &mut Page, report: &ExplainReport) {
    if report.devices.len() < 2 {
        return;
    }
    page.heading("Peaks by device (* is the one that the report is about)");
    for (index, device) in report.devices.iter().enumerate().take(ROWS) {
        let mark = mark(report.focus == Some(index));
        page.line(&format!("{mark}{}", words_of_device(report, device)));
    }
    more(page, report.devices.len());
}

fn words_of_device(report: &ExplainReport, device: &DeviceHistory) -> String {
    let peak = &device.peak;
    let (allocated, reserved) = (peak.allocated_bytes, peak.reserved_bytes);
    let end = if device.oom.is_some() { "  ran out" } else { "" };
    let input = report.inputs.get(device.input);
    let name = input.map_or_else(String::new, |input| keep_end(&name_of_input(input), 16));
    format!("{name:<16} cuda:{:<2} {allocated:>11} allocated {reserved:>11} reserved{end}", device.device.0)
}

/// The files.
pub(super) fn inputs(page: &mut Page, report: &ExplainReport) {
    if report.inputs.is_empty() {
        return;
    }
    page.heading("Read");
    for input in report.inputs.iter().take(ROWS) {
        let end = format!(": {}", words_of_input(input));
        let width = COLUMNS.saturating_sub(4 + columns(&end));
        page.line(&format!("  - {}{end}", keep_end(page.path(path_of_input(input)), width)));
    }
    more(page, report.inputs.len());
}

fn mark(is_focus: bool) -> &'static str {
    if is_focus { "  * " } else { "  - " }
}

fn more(page: &mut Page, all: usize) {
    if all > ROWS {
        page.line(&format!("    and {} more", all - ROWS));
    }
}
