//! The object of `lint`: every finding is a change to make, and none is the cause of an error.

use serde_json::{Value, json};

use super::super::layout::short_path;
use super::object::{Object, at_place};
use crate::lint::{LintFinding, LintReport};

/// Describes every finding, with its first remedy as the change.
pub(super) fn describe(report: &LintReport) -> Object {
    let findings = report.findings.iter().map(|found| describe_finding(found, &report.folder));
    let unreadable = report
        .unreadable
        .iter()
        .map(|file| json!({"file": short_path(&file.file, &report.folder), "message": file.reason}));
    Object::of(report)
        .row([("cause", None)])
        .list("changes", findings)
        .list_some("unreadable", unreadable)
        .notes(&super::super::lint::closing(report))
}

fn describe_finding(found: &LintFinding, folder: &str) -> Value {
    let finding = &found.finding;
    let value = json!({
        "rule": finding.rule, "severity": finding.severity, "certainty": found.certainty, "message": finding.message,
    });
    let mut value = at_place(value, finding.location.as_ref(), folder);
    if let Some(cell) = found.cell {
        value["cell"] = json!(cell);
    }
    if let Some(remedy) = finding.remedies.first() {
        value["change"] = json!(remedy.remedy);
    }
    if let Some(proof) = &found.proof {
        value["before_bytes"] = json!(proof.before.peak_allocated_bytes);
        value["after_bytes"] = json!(proof.after.peak_allocated_bytes);
    }
    value["fix"] = json!(found.fix.as_ref().map(|fix| if fix.is_safe { "safe" } else { "unsafe" }));
    value
}
