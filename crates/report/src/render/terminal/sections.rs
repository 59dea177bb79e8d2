//! The sections that reports share: breakdown, sites, findings, remarks.

use trace::Bytes;

use super::page::Page;
use crate::breakdown::Breakdown;
use crate::check::{Assumption, Site};
use crate::finding::{Evidence, Finding, Remedy, Severity};
use crate::render::layout::{COLUMNS, keep_end, permille};
use crate::render::sites::{called, describe, words_of_assumption, words_of_site};

/// The indent of a site's second line.
const INDENT: usize = 15;

/// The allocated bytes at the peak by category, to the byte.
pub(super) fn breakdown(page: &mut Page, heading: &str, breakdown: &Breakdown) {
    let total = breakdown.total();
    if breakdown.parts().is_empty() {
        return;
    }
    page.heading(heading);
    for part in breakdown.parts() {
        let bar = page.bar(permille(part.bytes.0, total.0));
        let words = part.category.words();
        page.line(&format!("  {words:<16}{}  {bar}", share(part.bytes, total)));
    }
    page.line(&format!("  {:<16}{total:>11}  {} bytes", "total", total.0));
}

/// `   1.25 GiB   62.5 %`.
pub(super) fn share(bytes: Bytes, total: Bytes) -> String {
    let permille = permille(bytes.0, total.0);
    let (whole, tenth) = (permille / 10, permille % 10);
    format!("{bytes:>11}  {whole:>3}.{tenth} %")
}

/// The lines that allocated the blocks alive at the peak.
pub(super) fn sites(page: &mut Page, heading: &str, sites: &[Site]) {
    if sites.is_empty() {
        return;
    }
    page.heading(heading);
    for site in sites {
        write_site(page, site);
    }
}

fn write_site(page: &mut Page, site: &Site) {
    let head = format!("  {:>11}  {:>6}  {:<17}", site.bytes, format!("{}x", site.count), site.category.words());
    let width = COLUMNS - head.chars().count();
    page.line(&(head + &keep_end(&words_of_site(site, page.folder()), width)));
    if let Some(frame) = called(site) {
        let style = page.styles().faint;
        let via = keep_end(&describe(frame, page.folder()), COLUMNS - INDENT - 3);
        page.styled_line(&" ".repeat(INDENT), &format!("in {via}"), style);
    }
}

/// The findings, most serious first.
pub(super) fn findings(page: &mut Page, findings: &[Finding]) {
    if findings.is_empty() {
        return;
    }
    page.heading("Findings");
    for finding in findings {
        write_finding(page, finding);
    }
}

fn write_finding(page: &mut Page, finding: &Finding) {
    let styles = page.styles();
    let style = match finding.severity {
        Severity::Error => styles.bad,
        Severity::Warning => styles.unsure,
        Severity::Info => styles.heading,
    };
    let head = format!("{}[{}]", finding.severity.word(), finding.rule);
    page.styled_paragraph("  ", &head, style);
    page.paragraph("    ", &finding.message);
    if let Some(location) = &finding.location {
        let place = page.line_of(location);
        page.paragraph("    at ", &keep_end(&place, COLUMNS - 7));
    }
    for evidence in &finding.evidence {
        page.paragraph("    - ", &fact(evidence));
    }
    for remedy in &finding.remedies {
        page.paragraph("    > ", &offer(remedy));
    }
}

fn fact(evidence: &Evidence) -> String {
    let Evidence { what, value, source } = evidence;
    format!("{what}: {value} ({source})")
}

fn offer(remedy: &Remedy) -> String {
    let change = match (remedy.before_bytes, remedy.after_bytes) {
        (Some(before), Some(after)) => format!(", peak {before} to {after}"),
        _ => String::new(),
    };
    format!("{} ({}{change}): {}", remedy.remedy, remedy.standing.word(), remedy.how)
}

/// Further remarks for the reader.
pub(super) fn notes<'a>(page: &mut Page, notes: impl IntoIterator<Item = &'a str>) {
    let mut notes = notes.into_iter().peekable();
    if notes.peek().is_none() {
        return;
    }
    page.heading("Notes");
    for note in notes {
        page.paragraph("  - ", note);
    }
}

/// The assumptions behind the figures.
pub(super) fn assumptions(page: &mut Page, assumptions: &[Assumption]) {
    if assumptions.is_empty() {
        return;
    }
    page.heading("Assumptions");
    for assumption in assumptions {
        page.paragraph("  - ", &words_of_assumption(assumption));
    }
}
