//! What a file says: one run of real PyTorch, with its operations and all that it answered.
//!
//! Runs of `tests/differential/driver.py` have more operations and statistics than the older golden ones; its README
//! tells the format.

use std::io::{BufRead, BufReader, Read};

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use trace::Release;

#[derive(Deserialize)]
pub(crate) struct Recorded {
    #[serde(default)]
    pub(crate) seed: Option<u64>,
    #[serde(default)]
    pub(crate) number: Option<u64>,
    pub(crate) torch: String,
    pub(crate) conf: String,
    pub(crate) set_fraction_api: Value,
    pub(crate) device_total: u64,
    pub(crate) device_used_at_start: u64,
    pub(crate) stream_pointer_rank: Vec<u64>,
    pub(crate) stat_names: Vec<String>,
    /// `changes`: statistics are index and value of what changed since the operation before; else all of them.
    #[serde(default)]
    pub(crate) stats_are: Option<String>,
    #[serde(rename = "ops")]
    pub(crate) operations: Vec<Operation>,
    pub(crate) final_segments: Vec<Segment>,
    pub(crate) trace: Vec<(String, Value, u64, Option<usize>)>,
}

impl Recorded {
    /// The version of PyTorch.
    pub(crate) fn release(&self) -> Result<Release, String> {
        let mut parts = self.torch.split('.').map_while(|part| part.parse().ok());
        let (major, minor) = (parts.next(), parts.next());
        major
            .zip(minor)
            .map(|(major, minor)| Release { major, minor })
            .ok_or_else(|| format!("no version: {}", self.torch))
    }

    /// The value of `set_per_process_memory_fraction` before the first operation.
    pub(crate) fn fraction(&self) -> Result<Option<f64>, String> {
        match &self.set_fraction_api {
            Value::String(text) if text.is_empty() => Ok(None),
            Value::String(text) => text.parse().map(Some).map_err(|_| format!("no fraction: {text}")),
            other => Ok(other.as_f64()),
        }
    }
}

/// Name, id, argument, stream, result, statistics, thread.
#[derive(Deserialize)]
pub(crate) struct Operation(
    pub(crate) String,
    #[serde(deserialize_with = "number")] pub(crate) Option<i64>,
    pub(crate) Value,
    pub(crate) Option<usize>,
    pub(crate) Value,
    pub(crate) Option<Vec<Option<i64>>>,
    #[serde(default)] pub(crate) u32,
);

/// A number, or a flag as one.
fn number<'de, D: Deserializer<'de>>(text: D) -> Result<Option<i64>, D::Error> {
    let value = Value::deserialize(text)?;
    Ok(value.as_i64().or(value.as_bool().map(i64::from)))
}

#[derive(Debug, Deserialize)]
pub(crate) struct Segment {
    pub(crate) addr: Place,
    pub(crate) total: u64,
    pub(crate) stream: usize,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) pool: Option<[u64; 2]>,
    #[serde(default)]
    pub(crate) expandable: Option<bool>,
    pub(crate) blocks: Vec<(u64, String, u64)>,
}

/// A range of addresses and an offset: `m` is memory of `cudaMalloc`, `va` reservations, `d` both in one.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place(pub(crate) String, pub(crate) u64);

/// The text of a file, plain or gzip.
pub(crate) fn open(path: &str) -> Result<Box<dyn BufRead>, String> {
    if path == "-" {
        return Ok(Box::new(BufReader::new(std::io::stdin())));
    }
    let mut file = BufReader::new(std::fs::File::open(path).map_err(|error| error.to_string())?);
    let is_gzip = file.fill_buf().is_ok_and(|start| start.starts_with(&[0x1f, 0x8b]));
    if !is_gzip {
        return Ok(Box::new(file));
    }
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(file).read_to_end(&mut text).map_err(|error| error.to_string())?;
    Ok(Box::new(std::io::Cursor::new(text)))
}
