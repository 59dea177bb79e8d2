//! The sections below the head: what fills the memory, who made it, what is wrong, what was assumed.

use super::page::{Page, decorated};
use trace::Phase;

use crate::check::{CheckReport, Place, Rank, Site, SiteFrame};
use crate::finding::{Evidence, Finding, Remedy, Severity};
use crate::render::layout::{COLUMNS, keep_end, permille};

/// Where the second line of a site begins.
const INDENT: usize = 15;

/// What the allocated bytes at the peak hold, to the byte.
pub(super) fn breakdown(page: &mut Page, report: &CheckReport) {
    let total = report.breakdown.total();
    if report.breakdown.parts().is_empty() {
        return;
    }
    page.heading("At the peak of allocated memory");
    for part in report.breakdown.parts() {
        let share = permille(part.bytes.0, total.0);
        let (words, bytes, bar) = (part.category.words(), part.bytes, page.bar(share));
        let (whole, tenth) = (share / 10, share % 10);
        page.line(&format!("  {words:<16}{bytes:>11}  {whole:>3}.{tenth} %  {bar}"));
    }
    page.line(&format!("  {:<16}{total:>11}  {} bytes", "total", total.0));
}

/// Where what was alive at the peak was made.
pub(super) fn sites(page: &mut Page, report: &CheckReport) {
    if report.sites.is_empty() {
        return;
    }
    page.heading("Made by these lines (alive at the peak, largest first)");
    for site in &report.sites {
        write_site(page, site);
    }
}

fn write_site(page: &mut Page, site: &Site) {
    let head = format!("  {:>11}  {:>6}  {:<17}", site.bytes, format!("{}x", site.count), site.category.words());
    let place = match (&site.location, site.frames.first()) {
        (Some(location), _) => page.line_of(location),
        (None, Some(frame)) => describe(page, frame),
        (None, None) => stretch(&site.place),
    };
    let width = COLUMNS - head.chars().count();
    page.line(&(head + &keep_end(&place, width)));
    if let Some(frame) = called(site) {
        let style = page.styles().faint;
        let via = keep_end(&describe(page, frame), COLUMNS - INDENT - 3);
        let via = decorated(&format!("in {via}"), style);
        page.line(&format!("{:INDENT$}{via}", ""));
    }
}

/// What stands in for a line where no Python ran, as in autograd's threads: `backward of layer4.2.relu`.
fn stretch(place: &Place) -> String {
    let phase = place.phase.map_or("no stack was recorded", Phase::name);
    let module = place.module.as_ref();
    module.map_or_else(|| phase.to_owned(), |module| format!("{phase} of {module}"))
}

/// What the user's line called: the innermost frame outside torch, which says most, else torch's outermost.
fn called(site: &Site) -> Option<&SiteFrame> {
    site.location.as_ref()?;
    let inner = || site.frames.iter().take_while(|frame| !frame.own);
    let outside_torch = inner().find(|frame| !frame.file.contains("/torch/"));
    outside_torch.or_else(|| inner().last())
}

fn describe(page: &Page, frame: &SiteFrame) -> String {
    format!("{}:{} {}", page.path(&frame.file), frame.line, frame.function)
}

/// What is wrong, the most serious first.
pub(super) fn findings(page: &mut Page, report: &CheckReport) {
    if report.findings.is_empty() {
        return;
    }
    page.heading("Findings");
    for finding in &report.findings {
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

/// Every process, where there are several.
pub(super) fn ranks(page: &mut Page, report: &CheckReport) {
    if report.ranks.is_empty() {
        return;
    }
    page.heading("Ranks (the report is about the fullest)");
    for rank in &report.ranks {
        write_rank(page, rank);
    }
}

fn write_rank(page: &mut Page, rank: &Rank) {
    let Rank { rank: number, device, peak, oom } = rank;
    let end = if *oom { ", ran out" } else { "" };
    let (used, allocated) = (peak.device_bytes, peak.allocated_bytes);
    page.line(&format!("  rank {number:<4} cuda:{device:<3} {used:>11} on the device, {allocated:>11} allocated{end}"));
}

/// What was modelled rather than measured.
pub(super) fn assumptions(page: &mut Page, report: &CheckReport) {
    if report.assumptions.is_empty() {
        return;
    }
    page.heading("Assumptions");
    for assumption in &report.assumptions {
        let text = format!("{} ({}, up to {})", assumption.text, assumption.id, assumption.bytes);
        page.paragraph("  - ", &text);
    }
}

/// What else the reader should know.
pub(super) fn notes(page: &mut Page, report: &CheckReport) {
    if report.notes.is_empty() {
        return;
    }
    page.heading("Notes");
    for note in &report.notes {
        page.paragraph("  - ", note);
    }
}
