//! The format of the files: one run of real PyTorch, with its operations and results.
//!
//! Runs of `tests/differential/driver.py` have more operations and statistics than the older golden runs; the README
//! beside the driver describes both formats.

use std::io::{BufRead, BufReader, Cursor, Read as _};

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
    /// `changes`: statistics are index and value of those that changed since the previous operation; else all
    /// statistics.
    #[serde(default)]
    pub(crate) stats_are: Option<String>,
    #[serde(rename = "ops")]
    pub(crate) operations: Vec<Operation>,
    pub(crate) final_segments: Vec<Segment>,
    pub(crate) trace: Vec<HistoryEntry>,
}

impl Recorded {
    /// Tests that the run comes from the driver, and is no older golden run.
    pub(crate) fn is_of_driver(&self) -> bool {
        self.stats_are.as_deref() == Some("changes")
    }

    /// Tests for private pools, whose order of release is not recorded.
    pub(crate) fn has_pools(&self) -> bool {
        self.operations.iter().any(|operation| matches!(operation.name.as_str(), "create_pool" | "begin_capture"))
    }

    /// The version of PyTorch.
    pub(crate) fn release(&self) -> Result<Release, String> {
        let mut parts = self.torch.split('.').map_while(|part| part.parse().ok());
        let (major, minor) = (parts.next(), parts.next());
        let release = major.zip(minor).map(|(major, minor)| Release { major, minor });
        release.ok_or_else(|| format!("no version of PyTorch: {:?}", self.torch))
    }

    /// The value of `set_per_process_memory_fraction` before the first operation.
    pub(crate) fn fraction(&self) -> Result<Option<f64>, String> {
        match &self.set_fraction_api {
            Value::String(text) if text.is_empty() => Ok(None),
            Value::String(text) => text.parse().map(Some).map_err(|_| format!("no fraction: {text:?}")),
            other => Ok(other.as_f64()),
        }
    }
}

/// One operation; the meaning of the parts depends on the name.
#[derive(Deserialize)]
#[serde(from = "Row")]
pub(crate) struct Operation {
    pub(crate) name: String,
    pub(crate) id: i64,
    pub(crate) argument: Value,
    pub(crate) stream: usize,
    pub(crate) result: Value,
    /// `None` = no statistics were recorded after this operation.
    pub(crate) stats: Option<Vec<Option<i64>>>,
    pub(crate) thread: u32,
}

/// Name, id, argument, stream, result, statistics, thread.
#[derive(Deserialize)]
struct Row(
    String,
    #[serde(deserialize_with = "number")] i64,
    Value,
    Option<usize>,
    Value,
    Option<Vec<Option<i64>>>,
    #[serde(default)] u32,
);

impl From<Row> for Operation {
    fn from(Row(name, id, argument, stream, result, stats, thread): Row) -> Operation {
        Operation { name, id, argument, stream: stream.unwrap_or(0), result, stats, thread }
    }
}

/// A number; a flag counts as 0 or 1, and `null` as 0.
fn number<'de, D: Deserializer<'de>>(text: D) -> Result<i64, D::Error> {
    let value = Value::deserialize(text)?;
    Ok(value.as_i64().or(value.as_bool().map(i64::from)).unwrap_or(0))
}

#[derive(Debug, Deserialize)]
pub(crate) struct Segment {
    pub(crate) addr: Location,
    pub(crate) total: u64,
    pub(crate) stream: usize,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) pool: Option<[u64; 2]>,
    #[serde(default)]
    pub(crate) expandable: Option<bool>,
    /// Size, state, requested size.
    pub(crate) blocks: Vec<(u64, String, u64)>,
}

/// Action, location (of an `oom` the free bytes), size, stream.
#[derive(Deserialize)]
pub(crate) struct HistoryEntry(pub(crate) String, pub(crate) Value, pub(crate) u64, pub(crate) Option<usize>);

/// A range of addresses and an offset: `m` is memory of `cudaMalloc`, `va` reservations, `d` both in one range.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Location(pub(crate) String, pub(crate) u64);

/// The text of a file, plain or gzip; `-` is standard input.
pub(crate) fn open(path: &str) -> Result<Box<dyn BufRead>, String> {
    if path == "-" {
        return Ok(Box::new(BufReader::new(std::io::stdin())));
    }
    let mut file = BufReader::new(std::fs::File::open(path).map_err(|error| error.to_string())?);
    if !file.fill_buf().is_ok_and(|start| start.starts_with(&[0x1f, 0x8b])) {
        return Ok(Box::new(file));
    }
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(file).read_to_end(&mut text).map_err(|error| error.to_string())?;
    Ok(Box::new(Cursor::new(text)))
}
