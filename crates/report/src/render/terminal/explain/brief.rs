//! The short report about a text: the cause, the parts of the device, their sum, and what to do.

use trace::text::StatedOom;

use super::memory;
use crate::explain::ExplainReport;
use crate::finding::{Finding, Remedy};
use crate::render::terminal::page::{Page, lines_of_fact};
use crate::render::{figures, words};

/// The lines of a report.
const LINES: usize = 15;
/// The lines below the remedies: the way to the rest, and the error among several.
const FOOT: usize = 1;
const FOOT_OF_MANY: usize = 3;
/// The most remedies.
const REMEDIES: usize = 3;
/// The evidence with the arithmetic of a message.
const SUM: &str = "sum";
/// The evidence of a finding without a sum.
const EVIDENCE: usize = 3;

/// True for a report about texts alone: a history has more to show.
pub(super) fn is_enough(report: &ExplainReport) -> bool {
    report.devices.is_empty() && report.comparison.is_none()
}

/// Writes all but the headline.
pub(super) fn write(page: &mut Page, report: &ExplainReport) {
    let Some(first) = report.findings.first() else {
        return write_nothing(page, report);
    };
    page.line("");
    if let Some(memory) = &report.memory {
        memory::bar_with_key(page, memory);
    } else if let Some((name, text)) = figures::explain(report).first() {
        page.fact(name, text);
    }
    if let Some(job) = &report.job {
        page.fact("job", job);
    }
    write_grounds(page, first);
    write_remedies(page, report);
    write_foot(page, report);
}

/// The sum of a message, else what the finding rests on.
fn write_grounds(page: &mut Page, finding: &Finding) {
    if let Some(sum) = finding.evidence.iter().find(|evidence| evidence.what == SUM) {
        return page.fact(SUM, &sum.value.to_string());
    }
    let rows =
        finding.evidence.iter().filter(|evidence| !["the error", "accounts for"].contains(&evidence.what.as_str()));
    let rows: Vec<String> =
        rows.take(EVIDENCE).map(|evidence| format!("{} {}", evidence.what, evidence.value)).collect();
    if !rows.is_empty() {
        page.fact("because", &rows.join(", "));
    }
}

/// The remedies of the first finding, then those of further findings, each once.
fn write_remedies(page: &mut Page, report: &ExplainReport) {
    let mut remedies: Vec<&Remedy> = Vec::new();
    for remedy in report.findings.iter().flat_map(|finding| &finding.remedies) {
        if !remedies.iter().any(|other| other.remedy == remedy.remedy) {
            remedies.push(remedy);
        }
    }
    let foot = if report.ooms.len() > 1 { FOOT_OF_MANY } else { FOOT };
    for (number, remedy) in remedies.iter().take(REMEDIES).enumerate() {
        let name = if number == 0 { "do" } else { "" };
        let words = format!("{}. {}", number + 1, remedy.remedy);
        if number > 0 && page.lines() + lines_of_fact(&words) + foot > LINES {
            return;
        }
        page.fact(name, &words);
    }
}

/// The number of further errors and findings, and the way to see them.
fn write_foot(page: &mut Page, report: &ExplainReport) {
    if report.ooms.len() > 1
        && let Some(oom) = report.focus_oom.and_then(|index| Some((index, report.ooms.get(index)?)))
    {
        let about = words::words_of_error(report, oom.0, oom.1);
        let all: u64 = report.ooms.iter().map(StatedOom::count).sum();
        page.fact("about", &format!("one of {all} errors: {about}"));
    }
    let more = report.findings.len().saturating_sub(1);
    let with = if more == 0 {
        String::new()
    } else {
        format!(", with {}", crate::words::count(more, "more finding", "more findings"))
    };
    page.fact("more", &format!("-v has the figures and how to do it{with}"));
}

/// What was found in a text without a finding.
fn write_nothing(page: &mut Page, report: &ExplainReport) {
    if !report.notes.is_empty() || report.job.is_some() {
        page.line("");
    }
    if let Some(job) = &report.job {
        page.fact("job", job);
    }
    for note in report.notes.iter().take(REMEDIES) {
        page.fact("found", note);
    }
}
