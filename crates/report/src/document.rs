//! A report as a JSON document with a `schema_version`, written by `--json` and read back.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::against::AgainstReport;
use crate::check::CheckReport;
use crate::explain::ExplainReport;
use crate::fit::FitReport;
use crate::lint::LintReport;
use crate::sanitize::escape_json;
use crate::tune::TuneReport;

/// A report that is written as JSON.
pub trait JsonReport: Serialize {
    /// The command that writes the report; also the name of the schema.
    const COMMAND: &'static str;
    /// The version of the schema: raised when a key changes its meaning or vanishes, not when a key is added. Documents without the key are
    /// of version 0, whose keys are those of version 1.
    const SCHEMA_VERSION: u32 = 1;
}

impl JsonReport for AgainstReport {
    const COMMAND: &'static str = "explain A B";
}

impl JsonReport for CheckReport {
    const COMMAND: &'static str = "check";
}

impl JsonReport for ExplainReport {
    const COMMAND: &'static str = "explain";
}

impl JsonReport for FitReport {
    const COMMAND: &'static str = "fit";
}

impl JsonReport for LintReport {
    const COMMAND: &'static str = "lint";
}

impl JsonReport for TuneReport {
    const COMMAND: &'static str = "tune";
}

/// The reason why bytes are not read as a report.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The report was written for a later version of the schema.
    #[error("the report has schema_version {found}, this oomph reads up to {newest}: a newer oomph wrote it")]
    Newer {
        /// The document's version.
        found: u64,
        /// The newest version that is read.
        newest: u32,
    },
    /// The bytes are not JSON, or the document lacks a key or has another type of value in one.
    #[error("not a report of `oomph {command}`: at `{path}`: {source}")]
    Content {
        /// The command of the expected report.
        command: &'static str,
        /// The place in the document, e.g. `findings[2].severity`; `.` for the whole document.
        path: String,
        /// The problem: found and expected.
        source: serde_json::Error,
    },
}

/// A report with the version of its schema first.
#[derive(Serialize)]
struct Versioned<'a, R> {
    schema_version: u32,
    #[serde(flatten)]
    report: &'a R,
}

/// The only key that all versions have.
#[derive(Deserialize)]
struct Version {
    #[serde(default)]
    schema_version: u64,
}

/// Writes a report as an indented JSON object with a newline at its end.
pub fn write<R: JsonReport>(report: &R) -> Result<String, serde_json::Error> {
    to_text(&Versioned { schema_version: R::SCHEMA_VERSION, report })
}

/// Reads a report that [`write()`] has written, in this version of oomph or an earlier one.
pub fn read<R: JsonReport + DeserializeOwned>(bytes: &[u8]) -> Result<R, ReadError> {
    let Version { schema_version } = parse::<Version>(bytes, R::COMMAND)?;
    if schema_version > u64::from(R::SCHEMA_VERSION) {
        return Err(ReadError::Newer { found: schema_version, newest: R::SCHEMA_VERSION });
    }
    parse(bytes, R::COMMAND)
}

fn parse<T: DeserializeOwned>(bytes: &[u8], command: &'static str) -> Result<T, ReadError> {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let parsed = serde_path_to_error::deserialize(&mut json).map_err(|error| ReadError::Content {
        command,
        path: error.path().to_string(),
        source: error.into_inner(),
    })?;
    json.end().map_err(|source| ReadError::Content { command, path: ".".to_owned(), source })?;
    Ok(parsed)
}

/// Writes a value as indented JSON with a newline at its end. A terminal may show it, so characters that a terminal acts on or
/// hides are escaped (Note [Foreign text] in `sanitize.rs`).
pub fn to_text(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    Ok(escape_json(text))
}
