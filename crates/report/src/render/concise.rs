//! One self-contained line per verdict and finding: for logs, chats and editors.

use super::answer::answer;
use super::foreign::clean;
use super::layout::{line_of, short_path, words_of};
use super::lint::place;
use crate::check::{CheckReport, Verdict};
use crate::explain::ExplainReport;
use crate::finding::Finding;
use crate::fit::FitReport;
use crate::lint::LintReport;
use crate::tune::TuneReport;

/// The verdict, then the findings, one line each.
pub fn check(report: &CheckReport) -> String {
    clean(&verdict(report)).into_owned() + "\n" + &lines(&report.findings, &report.folder)
}

/// The findings, one line each, or a line that states their absence.
pub fn explain(report: &ExplainReport) -> String {
    if report.findings.is_empty() {
        return clean(&answer(report)).into_owned() + "\n";
    }
    lines(&report.findings, &report.folder)
}

/// The answer, then one line for each place that the plan changes.
pub fn fit(report: &FitReport) -> String {
    let places = report.plans.first().into_iter().flat_map(|plan| &plan.places);
    let places = places.map(|place| match place.line {
        0 => format!("[{}] {}", place.remedy, place.text),
        line => format!("{}:{line}: [{}] {}", short_path(&place.file, &report.folder), place.remedy, place.text),
    });
    let lines = std::iter::once(super::fit::headline(report)).chain(places);
    lines.map(|line| clean(&line).into_owned() + "\n").collect()
}

/// A line for each finding, `train.py:41:5: error[accumulated-graph] message`, and for each unreadable file.
pub fn lint(report: &LintReport) -> String {
    let findings = report.findings.iter().map(|found| {
        let finding = &found.finding;
        format!("{}: {}[{}] {}", place(found, &report.folder), finding.severity.word(), finding.rule, finding.message)
    });
    let unreadable =
        report.unreadable.iter().map(|it| format!("{}: {}", short_path(&it.file, &report.folder), it.reason));
    findings.chain(unreadable).map(|line| clean(&line).into_owned() + "\n").collect()
}

/// The answer, then the setting, one line each.
pub fn tune(report: &TuneReport) -> String {
    let setting = report.recommended.iter().map(|recommended| recommended.lines.bash.as_str());
    let answer = super::tune::headline(report);
    std::iter::once(answer.as_str()).chain(setting).map(|line| clean(line).into_owned() + "\n").collect()
}

fn lines(findings: &[Finding], folder: &str) -> String {
    let line = |finding| clean(&line(finding, folder)).into_owned() + "\n";
    findings.iter().map(line).collect()
}

/// `fits: NVIDIA L4 of 22.04 GiB, peak 2.93 GiB on the device`.
pub(super) fn verdict(report: &CheckReport) -> String {
    let gpu = &report.gpu;
    let device = format!("{} of {}", gpu.name, gpu.total_bytes);
    match &report.verdict {
        Verdict::Fits => format!("fits: {device}, peak {} on the device", report.peak.usage.device_bytes),
        Verdict::Oom => {
            format!("does not fit: {device}, needs {} on the device{}", report.need.device_bytes, ran_out(report))
        }
        Verdict::Incomplete { reason } => format!("incomplete: {device}, {reason}"),
    }
}

fn ran_out(report: &CheckReport) -> String {
    let place = report.oom.as_ref().map(|oom| words_of(&oom.place));
    place.filter(|place| !place.is_empty()).map_or_else(String::new, |place| format!(", ran out at {place}"))
}

/// `train.py:41: warning[growing-collection] message`; the message alone without a location.
fn line(finding: &Finding, folder: &str) -> String {
    let place = finding.location.as_ref().map(|location| line_of(location, folder) + ": ");
    let word = finding.severity.word();
    format!("{}{word}[{}] {}", place.unwrap_or_default(), finding.rule, finding.message)
}
