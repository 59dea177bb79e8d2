//! The words of `lint` that several formats share.

use sha2::{Digest as _, Sha256};

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

/// The file's name, without the cell of a notebook.
pub(super) fn file_of<'a>(found: &'a LintFinding, folder: &str) -> &'a str {
    let name = found.finding.location.as_ref().map_or("", |location| short_path(&location.file, folder));
    let cell = found.cell.and_then(|cell| name.strip_suffix(&format!(":cell {cell}")));
    cell.unwrap_or(name)
}

/// The message, with the cell and the line of a notebook: formats of files have no words for cells.
pub(super) fn describe_in_file(found: &LintFinding) -> String {
    let message = &found.finding.message;
    match (found.cell, &found.finding.location) {
        (Some(cell), Some(at)) => format!("cell {cell}, line {}: {message}", at.line),
        _ => message.clone(),
    }
}

/// A fingerprint of texts.
pub(super) fn fingerprint_of(parts: &[&str]) -> String {
    let digest = Sha256::digest(parts.join("\n"));
    format!("{:032x}", u128::from_be_bytes(std::array::from_fn(|at| digest[at])))
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
