//! The report of `check`: its order, and the sections that only it has.

use super::page::Page;
use super::{sections, verdict};
use crate::check::{CheckReport, Rank};

/// All of it.
pub(super) fn write(page: &mut Page, report: &CheckReport) {
    verdict::write(page, report);
    sections::breakdown(page, &report.breakdown);
    sections::sites(page, &report.sites);
    sections::findings(page, &report.findings);
    ranks(page, report);
    assumptions(page, report);
    sections::notes(page, &report.notes);
}

/// Every process, where there are several.
fn ranks(page: &mut Page, report: &CheckReport) {
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
fn assumptions(page: &mut Page, report: &CheckReport) {
    if report.assumptions.is_empty() {
        return;
    }
    page.heading("Assumptions");
    for assumption in &report.assumptions {
        let text = format!("{} ({}, up to {})", assumption.text, assumption.id, assumption.bytes);
        page.paragraph("  - ", &text);
    }
}
