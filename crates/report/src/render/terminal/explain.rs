//! The report of `explain`: the order of sections.

mod brief;
mod comparison;
mod head;
mod inputs;
mod memory;
mod tables;

use super::page::Page;
use super::{Detail, sections};
use crate::breakdown::Breakdown;
use crate::explain::ExplainReport;
use crate::render::sites;

/// The number of lines of code shown.
const SITES: usize = 10;

/// Writes the answer and its figures, then their basis. Of texts, the short form has the answer and what to do.
pub(super) fn write(page: &mut Page, report: &ExplainReport, detail: Detail) {
    head::headline(page, report);
    if detail == Detail::Brief && brief::is_enough(report) {
        return brief::write(page, report);
    }
    head::figures(page, report);
    if let Some(memory) = &report.memory {
        memory::write(page, memory);
    }
    sections::findings(page, &report.findings);
    if let Some(breakdown) = unshown_breakdown(report) {
        sections::breakdown(page, sites::AT_THE_PEAK, breakdown);
    }
    sections::sites(page, sites::LINES_AT_THE_PEAK, report.sites.get(..SITES).unwrap_or(&report.sites));
    if let Some(comparison) = &report.comparison {
        comparison::write(page, comparison);
    }
    inputs::errors(page, report);
    inputs::devices(page, report);
    tables::write(page, report);
    inputs::inputs(page, report);
    sections::notes(page, report.notes.iter().map(String::as_str));
}

/// The breakdown, unless the bar of the device's memory shows the same parts.
fn unshown_breakdown(report: &ExplainReport) -> Option<&Breakdown> {
    let breakdown = report.breakdown.as_ref()?;
    let is_shown = report.memory.as_ref().is_some_and(|memory| memory.shows(breakdown));
    (!is_shown).then_some(breakdown)
}
