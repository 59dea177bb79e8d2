//! The head of the report: the answer in a sentence, and the main figures.

use crate::explain::ExplainReport;
use crate::finding::Severity;
use crate::render::terminal::page::Page;
use crate::render::{answer, figures};

/// Writes a fact per line.
pub(super) fn figures(page: &mut Page, report: &ExplainReport) {
    page.line("");
    for (name, text) in figures::explain(report) {
        page.fact(name, &text);
    }
    page.fact("oomph", &report.version);
}

/// Writes the answer in a sentence.
pub(super) fn headline(page: &mut Page, report: &ExplainReport) {
    let styles = page.styles();
    let style = match report.findings.first().map(|finding| finding.severity) {
        Some(Severity::Error) => styles.bad,
        None if report.ooms.is_empty() => styles.good,
        Some(Severity::Warning | Severity::Info) | None => styles.unsure,
    };
    page.styled_paragraph("", &answer::answer(report), style);
}
