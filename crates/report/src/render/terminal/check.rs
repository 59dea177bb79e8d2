//! The report of `check`: the order of sections, and the sections of this report alone.

use super::page::Page;
use super::sections;
use crate::check::{CheckReport, Verdict};
use crate::render::words::words_of_rank;
use crate::render::{sites, stages, verdict};

/// Writes the whole report.
pub(super) fn write(page: &mut Page, report: &CheckReport) {
    head(page, report);
    write_stages(page, report);
    if let Some(filling) = report.need.filling.as_ref().filter(|_| report.verdict.is_oom()) {
        sections::breakdown(page, sites::AT_THE_NEED, &filling.breakdown);
        sections::sites(page, sites::LINES_AT_THE_NEED, &filling.sites);
    }
    sections::breakdown(page, sites::AT_THE_PEAK, &report.breakdown);
    sections::sites(page, sites::LINES_AT_THE_PEAK, &report.sites);
    sections::findings(page, &report.findings);
    ranks(page, report);
    sections::assumptions(page, &report.assumptions);
    sections::notes(page, report.notes.iter().map(|remark| remark.text.as_str()));
}

/// The verdict and the figures behind the verdict.
fn head(page: &mut Page, report: &CheckReport) {
    headline(page, report);
    page.line("");
    for (name, text) in verdict::facts(report) {
        page.fact(name, &text);
    }
}

/// The verdict.
pub(super) fn headline(page: &mut Page, report: &CheckReport) {
    let styles = page.styles();
    let style = match report.verdict {
        Verdict::Fits { .. } => styles.good,
        Verdict::Oom { .. } => styles.bad,
        Verdict::FitsSoFar { .. } | Verdict::Incomplete { .. } => styles.unsure,
    };
    page.styled_paragraph("", &verdict::sentence(report), style);
}

/// The stages of the program's life, if there are several.
fn write_stages(page: &mut Page, report: &CheckReport) {
    let rows = stages::list_rows(report);
    if !rows.is_empty() {
        page.heading("Stages");
    }
    for row in rows {
        page.paragraph("  ", &stages::words_of_whole_row(row, page.folder()));
    }
}

/// Every process, if there are several.
fn ranks(page: &mut Page, report: &CheckReport) {
    if report.ranks.is_empty() {
        return;
    }
    page.heading("Ranks (the report is about the fullest)");
    for rank in &report.ranks {
        page.line(&format!("  {}", words_of_rank(rank)));
    }
}
