//! Reads the files of a run directory: JSON, one record a line, and the launcher's `run.json`.

use serde::de::DeserializeOwned;
use thiserror::Error;

use super::{Launch, PhantomRecord, Record};

/// A line of a record file that says nothing to this version. The other lines are unaffected.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {kind}")]
pub struct Problem {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub kind: ProblemKind,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProblemKind {
    /// The last line has no end: its writer was killed while it wrote.
    #[error("the file ends in the middle of a record")]
    Cut,
    /// A record of a kind that this version does not know, written by a newer one.
    #[error("a record of the unknown kind `{0}`")]
    UnknownKind(String),
    /// Anything else.
    #[error("not a record: {0}")]
    Malformed(String),
}

/// Why `run.json` could not be read.
#[derive(Debug, Error)]
pub enum LaunchError {
    /// It is not JSON, or lacks a key.
    #[error("run.json: {0}")]
    Json(#[from] serde_json::Error),
    /// A version of oomph wrote it whose format this one does not know.
    #[error("run.json has format {found}; this oomph reads format {}", Launch::FORMAT)]
    Format {
        /// The format it states.
        found: u64,
    },
}

/// Reads `*.marks.jsonl`: the records of every line that can be read, and what was wrong with the others.
pub fn read_records(text: &[u8]) -> (Vec<Record>, Vec<Problem>) {
    read_lines(text, Record::KINDS)
}

/// Reads `phantom-<pid>.jsonl`, as [`read_records`].
pub fn read_phantom_records(text: &[u8]) -> (Vec<PhantomRecord>, Vec<Problem>) {
    read_lines(text, PhantomRecord::KINDS)
}

/// Reads `run.json`.
pub fn read_launch(text: &[u8]) -> Result<Launch, LaunchError> {
    let value: serde_json::Value = serde_json::from_slice(text)?;
    match value.get("format").and_then(serde_json::Value::as_u64) {
        Some(found) if found != u64::from(Launch::FORMAT) => Err(LaunchError::Format { found }),
        _ => Ok(serde_json::from_value(value)?),
    }
}

fn read_lines<T: DeserializeOwned>(text: &[u8], kinds: &[&str]) -> (Vec<T>, Vec<Problem>) {
    let (mut records, mut problems) = (Vec::new(), Vec::new());
    for (line, bytes) in (1..).zip(text.split_inclusive(|&byte| byte == b'\n')) {
        match read_line(bytes, kinds) {
            Ok(Some(record)) => records.push(record),
            Ok(None) => {}
            Err(kind) => problems.push(Problem { line, kind }),
        }
    }
    (records, problems)
}

/// The record of one line with its end, `None` for an empty one.
fn read_line<T: DeserializeOwned>(line: &[u8], kinds: &[&str]) -> Result<Option<T>, ProblemKind> {
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    match serde_json::from_slice(line) {
        Ok(record) => Ok(Some(record)),
        Err(_) if !line.ends_with(b"\n") => Err(ProblemKind::Cut),
        Err(error) => Err(unknown_kind(line, kinds).unwrap_or_else(|| ProblemKind::Malformed(error.to_string()))),
    }
}

fn unknown_kind(line: &[u8], kinds: &[&str]) -> Option<ProblemKind> {
    let value: serde_json::Value = serde_json::from_slice(line).ok()?;
    let kind = value.get("kind")?.as_str()?;
    (!kinds.contains(&kind)).then(|| ProblemKind::UnknownKind(kind.to_owned()))
}
