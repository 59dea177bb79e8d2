//! `--format gitlab`: the findings of `lint` as a code quality report, which GitLab shows in merge requests.
//!
//! The keys are those of GitLab's documentation, "Code Quality", section "Code Quality report format": the subset of Code Climate's issues that
//! GitLab reads.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::Rendered;
use super::layout::short_path;
use super::lint::{describe_in_file, file_of, fingerprint_of};
use crate::document::to_text;
use crate::finding::Severity;
use crate::lint::{LintFinding, LintReport, UnreadableFile};
use crate::sanitize::clean;

/// The name in place of a rule for a file that cannot be linted.
const UNREADABLE: &str = "unreadable";

/// The report of `lint` as a list of issues.
pub fn lint(report: &LintReport) -> Rendered {
    let mut repeats = Repeats::default();
    let mut issues = Vec::new();
    for found in &report.findings {
        issues.push(issue_of(found, report, &mut repeats));
    }
    for file in &report.unreadable {
        issues.push(issue_of_unreadable(file, &report.folder, &mut repeats));
    }
    to_text(&Value::Array(issues))
}

/// The number of issues so far with the same file, rule and text. GitLab takes two issues with one fingerprint for one issue.
#[derive(Debug, Default)]
struct Repeats {
    seen: HashMap<Vec<String>, usize>,
}

impl Repeats {
    /// Returns the fingerprint of the next issue with these parts: the parts alone for the first issue, so that a later one changes nothing.
    fn fingerprint(&mut self, parts: &[&str]) -> String {
        let key: Vec<String> = parts.iter().map(|part| (*part).to_owned()).collect();
        let seen = self.seen.entry(key).or_default();
        *seen += 1;
        let number = seen.to_string();
        let all: Vec<&str> = parts.iter().copied().chain((*seen > 1).then_some(number.as_str())).collect();
        fingerprint_of(&all)
    }
}

fn issue_of(found: &LintFinding, report: &LintReport, repeats: &mut Repeats) -> Value {
    let finding = &found.finding;
    let (file, rule) = (file_of(found, &report.folder), finding.rule.to_string());
    // Lines of a notebook belong to a cell, and the report has no word for cells.
    let line = finding.location.as_ref().filter(|_| found.cell.is_none()).map_or(1, |at| at.line);
    json!({
        "description": clean(&describe_in_file(found)),
        "check_name": rule,
        "fingerprint": repeats.fingerprint(&[file, &rule, found.excerpt.text.trim()]),
        "severity": severity(finding.severity),
        "location": { "path": file, "lines": { "begin": line } },
    })
}

fn issue_of_unreadable(unreadable: &UnreadableFile, folder: &str, repeats: &mut Repeats) -> Value {
    let file = short_path(&unreadable.file, folder);
    json!({
        "description": clean(&unreadable.reason),
        "check_name": UNREADABLE,
        "fingerprint": repeats.fingerprint(&[file, UNREADABLE]),
        "severity": severity(Severity::Warning),
        "location": { "path": file, "lines": { "begin": 1 } },
    })
}

/// One of GitLab's words `info`, `minor`, `major`, `critical` and `blocker`.
fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "major",
        Severity::Warning => "minor",
        Severity::Info => "info",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_issues_have_fingerprints_of_their_own_and_the_first_keeps_its() {
        let mut repeats = Repeats::default();
        let mut next = |parts: &[&str]| repeats.fingerprint(parts);
        let first = next(&["a.py", "rule", "x"]);
        let second = next(&["a.py", "rule", "x"]);
        let other = next(&["b.py", "rule", "x"]);
        assert_eq!(first, fingerprint_of(&["a.py", "rule", "x"]));
        assert!(first != second && second != other && first != other, "{first} {second} {other}");
    }
}
