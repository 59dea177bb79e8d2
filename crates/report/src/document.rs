//! A report as a JSON document with a `schema_version`, written by `--json` and read back.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::against::AgainstReport;
use crate::check::CheckReport;
use crate::explain::{ExplainReport, ExplainVerdict};
use crate::fit::FitReport;
use crate::lint::LintReport;
use crate::now::NowReport;
use crate::real_run::RunReport;
use crate::sanitize::escape_json;
use crate::sweep::SweepReport;
use crate::top::TopReport;
use crate::tune::TuneReport;

/// The words of a report's verdict, with their meaning.
pub type Verdicts = &'static [(&'static str, &'static str)];

/// A report that is written as JSON.
pub trait JsonReport: Serialize {
    /// The command that writes the report; also the name of the schema.
    const COMMAND: &'static str;
    /// The version of the schema: raised when a key changes its meaning or vanishes, not when a key is added. Documents without the key are
    /// of version 0, whose keys are those of version 1.
    const SCHEMA_VERSION: u32 = 1;
    /// Every word of [`Report::verdict`](crate::Report::verdict), with its meaning.
    const VERDICTS: Verdicts;
}

impl JsonReport for AgainstReport {
    const COMMAND: &'static str = "explain A B";
    const VERDICTS: Verdicts =
        &[("equal", "The requests and the frees of both runs are equal."), ("different", "The runs differ.")];
}

impl JsonReport for CheckReport {
    const COMMAND: &'static str = "check";
    const VERDICTS: Verdicts = &[
        (
            "fits",
            "Every request was served, and the program ran to its end, or its rest is known to repeat what was run.",
        ),
        ("fits_so_far", "Every request of the part that was run was served."),
        ("oom", "A request of the program could not be served, whoever caught the error."),
        ("incomplete", "The program ended before a verdict was possible."),
    ];
}

impl JsonReport for ExplainReport {
    const COMMAND: &'static str = "explain";
    const VERDICTS: Verdicts = &ExplainVerdict::WORDS;
}

impl JsonReport for FitReport {
    const COMMAND: &'static str = "fit";
    const VERDICTS: Verdicts = &[
        ("fits", "The unchanged program fits."),
        ("fits-with-plan", "The program fits with the first plan."),
        ("does-not-fit", "No allowed change makes the program fit."),
        (
            "unknown",
            "The search was stopped in its first dry run: `before` is the need of the unchanged program until then.",
        ),
    ];
}

impl JsonReport for LintReport {
    const COMMAND: &'static str = "lint";
    const VERDICTS: Verdicts = &[
        ("clean", "No finding."),
        ("found", "At least one finding."),
        ("incomplete", "No finding, and a file that could not be read."),
    ];
}

impl JsonReport for NowReport {
    const COMMAND: &'static str = "explain --pid PID";
    const VERDICTS: Verdicts = &[
        ("growing", "The memory of a process grows from step to step."),
        ("steady", "No process grows from step to step."),
        ("unused", "No process has used a GPU through PyTorch yet."),
    ];
}

impl JsonReport for RunReport {
    const COMMAND: &'static str = "explain RUN";
    /// Version 1 was the report of `explain` about the files of the recording.
    const SCHEMA_VERSION: u32 = 2;
    const VERDICTS: Verdicts = &[
        ("good", "The program ended well and caught no out-of-memory error."),
        ("caught", "The program ended well, and caught an out-of-memory error before."),
        ("oom", "Memory ended the program."),
        ("failed", "Another error, an exit status or a signal ended the program."),
        ("open", "No end is recorded: the program runs, or was killed while nobody waited for it."),
    ];
}

impl JsonReport for SweepReport {
    const COMMAND: &'static str = "sweep";
    const VERDICTS: Verdicts = &[
        ("all_fit", "Every configuration fits every GPU."),
        ("some_fit", "Some configurations fit, some do not."),
        ("none_fits", "No configuration fits a GPU."),
        ("partial", "Some configurations are missing: the sweep was stopped, or work was lost."),
    ];
}

impl JsonReport for TopReport {
    const COMMAND: &'static str = "top --once";
    const VERDICTS: Verdicts = &[
        ("alert", "There is a remark: memory that grows, a wait for data, or a GPU without an answer."),
        ("calm", "There is no remark."),
    ];
}

impl JsonReport for TuneReport {
    const COMMAND: &'static str = "tune";
    const VERDICTS: Verdicts = &[
        ("recommended", "A setting is better than the current settings."),
        ("nothing_better", "No setting is better than the current settings."),
        ("oom", "The program runs out of memory under every setting."),
    ];
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

/// The only key that all versions have.
#[derive(Deserialize)]
struct Version {
    #[serde(default)]
    schema_version: u64,
}

/// Reads a report that [`render::json::write`](crate::render::json::write) has written, in this version of oomph or an earlier one.
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
