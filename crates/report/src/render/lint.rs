//! The words of `lint` that several formats share.

use super::layout::short_path;
use crate::finding::Severity;
use crate::lint::{LintFinding, LintReport};
use crate::words::count;

/// `train.py:41:5`; `notes.ipynb:cell 3:4:1` in a notebook.
pub(super) fn place(found: &LintFinding, folder: &str) -> String {
    found.finding.location.as_ref().map_or_else(String::new, |location| {
        let column = location.column.map_or_else(String::new, |column| format!(":{column}"));
        format!("{}:{}{column}", short_path(&location.file, folder), location.line)
    })
}

/// `3 findings in 120 files: 1 error, 2 warnings`.
pub(super) fn headline(report: &LintReport) -> String {
    let files = count(report.files.saturating_sub(report.unreadable.len()), "file", "files");
    if report.findings.is_empty() {
        return format!("no finding in {files}");
    }
    let of = |severity, one, many| {
        let number = report.findings.iter().filter(|found| found.finding.severity == severity).count();
        (number > 0).then(|| count(number, one, many))
    };
    let kinds = [
        of(Severity::Error, "error", "errors"),
        of(Severity::Warning, "warning", "warnings"),
        of(Severity::Info, "remark", "remarks"),
    ];
    let kinds: Vec<String> = kinds.into_iter().flatten().collect();
    format!("{} in {files}: {}", count(report.findings.len(), "finding", "findings"), kinds.join(", "))
}

/// The closing remarks: fixed and fixable findings, findings hidden by the baseline, unreadable files.
pub(super) fn closing(report: &LintReport) -> Vec<String> {
    let mendable = |is_safe| {
        // Notebooks are not changed.
        let outside = report.findings.iter().filter(|found| found.cell.is_none());
        let fixes = outside.filter_map(|found| found.fix.as_ref());
        fixes.filter(|fix| fix.is_safe == is_safe).count()
    };
    let lines = [
        (report.fixed, "mended"),
        (mendable(true), "can be mended with --fix, or shown with --diff"),
        (mendable(false), "can be mended with --fix --unsafe-fixes, after a look: results may change"),
        (report.hidden, "of the baseline not shown"),
    ];
    let counts = lines.into_iter().filter(|(count, _)| *count > 0).map(|(count, words)| format!("{count} {words}"));
    counts.chain(report.notes.iter().cloned()).collect()
}
