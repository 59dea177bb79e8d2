//! `--json`: one object per report, with the serialised fields of its type; sizes are plain integers in bytes.

use serde::Serialize;

use crate::check::CheckReport;
use crate::explain::ExplainReport;
use crate::fit::FitReport;
use crate::lint::LintReport;
use crate::tune::TuneReport;

/// The report of `check` as one JSON object, indented, with a newline at its end.
pub fn check(report: &CheckReport) -> Result<String, serde_json::Error> {
    object(report)
}

/// The report of `explain` as one JSON object, indented, with a newline at its end.
pub fn explain(report: &ExplainReport) -> Result<String, serde_json::Error> {
    object(report)
}

/// The report of `fit` as one JSON object, indented, with a newline at its end.
pub fn fit(report: &FitReport) -> Result<String, serde_json::Error> {
    object(report)
}

/// The report of `lint` as one JSON object, indented, with a newline at its end.
pub fn lint(report: &LintReport) -> Result<String, serde_json::Error> {
    object(report)
}

/// The report of `tune` as one JSON object, indented, with a newline at its end.
pub fn tune(report: &TuneReport) -> Result<String, serde_json::Error> {
    object(report)
}

pub(super) fn object(report: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string_pretty(report)?;
    text.push('\n');
    Ok(text)
}
