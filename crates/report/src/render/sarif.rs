//! SARIF 2.1.0, which code hosts and editors show at the lines. The keys are those of the OASIS standard, "Static Analysis Results Interchange
//! Format (SARIF) Version 2.1.0", sections 3.13 (log), 3.27 (result), 3.30 (region) and 3.55 (fix).

use serde_json::{Value, json};

use super::Rendered;
use super::layout::short_path;
use super::lint::{describe_in_file, file_of, fingerprint_of};
use crate::document::to_text;
use crate::finding::Severity;
use crate::lint::{LineColumn, LintEdit, LintFinding, LintFix, LintReport, LintRule, UnreadableFile};

/// The report of `lint` as one SARIF log with one run.
pub fn lint(report: &LintReport) -> Rendered {
    let rules: Vec<Value> = report.rules.iter().map(rule).collect();
    let results: Vec<Value> = report.findings.iter().map(|found| result(found, report)).collect();
    let notifications: Vec<Value> = report.unreadable.iter().map(|file| notification(file, &report.folder)).collect();
    to_text(&json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "oomph lint", "version": report.version, "rules": rules } },
            // Columns count characters; the default would be UTF-16 units.
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": report.unreadable.is_empty(),
                "toolExecutionNotifications": notifications,
            }],
            "results": results,
        }],
    }))
}

fn rule(rule: &LintRule) -> Value {
    json!({
        "id": rule.id,
        "shortDescription": { "text": rule.summary },
        "help": { "text": rule.help, "markdown": rule.page },
    })
}

fn result(found: &LintFinding, report: &LintReport) -> Value {
    let finding = &found.finding;
    let mut result = json!({
        "ruleId": finding.rule,
        "ruleIndex": report.rules.iter().position(|rule| rule.id == finding.rule),
        "level": level(finding.severity),
        "message": { "text": describe_in_file(found) },
        "locations": [{ "physicalLocation": { "artifactLocation": artifact(file_of(found, &report.folder)) } }],
        "partialFingerprints": { "lineText/v1": fingerprint(found) },
        "properties": { "certainty": found.certainty },
    });
    let start = finding.location.as_ref().map(|at| LineColumn { line: at.line, column: at.column.unwrap_or(1) });
    // Lines of a notebook belong to a cell and have no region in the file.
    if found.cell.is_none() {
        result["locations"][0]["physicalLocation"]["region"] = region(start.unwrap_or(found.end), found.end);
        let text = finding.remedies.first().map_or("", |remedy| &remedy.remedy);
        let fixes = found.fix.iter().map(|change| fix(change, file_of(found, &report.folder), text));
        result["fixes"] = fixes.collect();
    }
    result
}

fn fix(fix: &LintFix, file: &str, text: &str) -> Value {
    let replacement = |edit: &LintEdit| json!({ "deletedRegion": region(edit.start, edit.end), "insertedContent": { "text": edit.text } });
    json!({
        "description": { "text": if fix.is_safe { text.to_owned() } else { format!("{text} (unsafe)") } },
        "artifactChanges": [{
            "artifactLocation": artifact(file),
            "replacements": fix.edits.iter().map(replacement).collect::<Vec<_>>(),
        }],
    })
}

fn region(start: LineColumn, end: LineColumn) -> Value {
    json!({ "startLine": start.line, "startColumn": start.column, "endLine": end.line, "endColumn": end.column })
}

/// A fingerprint that survives edits above the finding: the rule and the text of the lines.
fn fingerprint(found: &LintFinding) -> String {
    fingerprint_of(&[found.finding.rule.0, found.excerpt.text.trim()])
}

fn notification(file: &UnreadableFile, folder: &str) -> Value {
    let location = json!({ "physicalLocation": { "artifactLocation": artifact(short_path(&file.file, folder)) } });
    json!({ "level": "warning", "message": { "text": file.reason }, "locations": [location] })
}

/// A file, as a relative or absolute URI reference.
fn artifact(file: &str) -> Value {
    let encode = |path: &str| path.bytes().map(encoded).collect::<Vec<_>>().concat();
    let uri = match file.split_at_checked(2) {
        // A file of Windows outside of the folder.
        Some((drive, path)) if drive.ends_with(':') && path.starts_with('/') => {
            format!("file:///{drive}{}", encode(path))
        }
        _ => encode(file),
    };
    json!({ "uri": uri })
}

/// The unreserved characters of RFC 3986, section 2.3, and the slash stay; all other bytes become percent codes.
fn encoded(byte: u8) -> String {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    }
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}
