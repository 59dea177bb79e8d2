//! `--json`: one object with the keys of DESIGN.md §3, sizes as plain integers.

use crate::check::CheckReport;

/// The report as one JSON object, indented, with a newline at its end.
pub fn check(report: &CheckReport) -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string_pretty(report)?;
    text.push('\n');
    Ok(text)
}
