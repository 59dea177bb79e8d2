//! The report of `sweep`: the answer, maps of the needs, and the way to the figures.

use super::page::Page;
use super::sections;
use crate::render::sweep::{headline, list_gpus, list_maps, list_remarks};
use crate::sweep::SweepReport;

/// Writes the answer, the maps and the remarks.
pub(super) fn write(page: &mut Page, report: &SweepReport) {
    let style = page.styles().heading;
    page.styled_paragraph("", &headline(report), style);
    for line in list_maps(report).into_iter().chain(list_gpus(report)) {
        page.line(&line);
    }
    let remarks = list_remarks(report);
    sections::notes(page, remarks.iter().map(String::as_str));
    page.line("");
    page.copied("points: ", &format!("{}/points.jsonl", report.folder));
}
