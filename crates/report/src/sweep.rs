//! The report of `sweep` as values. The serialised form is the contract of `sweep --json` and of the lines of `points.jsonl`
//! (docs/schema/README.md): keys are added, never renamed, and the doc comments are the descriptions in its schema.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use trace::Bytes;

/// The answer to "which of these configurations fit which GPU".
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SweepReport {
    /// oomph's own version.
    pub version: String,
    /// The names of the grid, in the user's order, each with the program's setting.
    pub axes: Vec<SweepAxis>,
    /// The GPUs.
    pub gpus: Vec<SweepDevice>,
    /// One entry for each configuration and GPU.
    pub points: Vec<SweepPoint>,
    /// The number of configurations.
    pub configurations: u64,
    /// The number of dry runs, in this call.
    pub runs: u64,
    /// The number of points that were replayed, in this call.
    pub replayed: u64,
    /// The number of points from an earlier call.
    pub kept: u64,
    /// True if configurations are missing: the user ended the sweep, or work was lost. The same command goes on.
    pub is_partial: bool,
    /// The folder of the results; the same command goes on there.
    pub folder: String,
    /// Further remarks for the reader, a sentence each.
    pub notes: Vec<String>,
    /// The duration in seconds.
    pub seconds: f64,
}

/// A name of the grid.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SweepAxis {
    /// The name, as the user wrote it.
    pub name: String,
    /// The setting of the program, such as `--batch-size`.
    pub key: String,
    /// The values, in the user's order.
    pub values: Vec<Value>,
}

/// A GPU of a sweep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SweepDevice {
    /// The name.
    pub name: String,
    /// The memory, less the use of other processes.
    pub capacity_bytes: Bytes,
    /// The GPU of the dry runs, with the same compute capability.
    pub run_for: String,
}

/// A configuration on a GPU.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SweepPoint {
    /// The number of the configuration, from 0.
    pub number: u64,
    /// The values, by the names of the grid.
    pub params: Map<String, Value>,
    /// The GPU.
    pub gpu: String,
    /// The verdict.
    pub verdict: PointVerdict,
    /// The most memory in use, context and libraries included; `None` for a program that failed.
    pub need_bytes: Option<Bytes>,
    /// The GPU's memory less the need; negative if there is too little.
    pub spare_bytes: Option<i64>,
    /// The GPU's memory, less the use of other processes.
    pub capacity_bytes: Bytes,
    /// `max_memory_allocated` of PyTorch.
    pub allocated_bytes: Option<Bytes>,
    /// `max_memory_reserved` of PyTorch.
    pub reserved_bytes: Option<Bytes>,
    /// The command line of the configuration, for a shell; edits of sources and files are not part of the line.
    pub command: String,
    /// Whether a dry run or a replay says so.
    pub how: HowKnown,
    /// The seconds of the dry run.
    pub seconds: f64,
    /// The version of PyTorch.
    pub torch: Option<String>,
    /// oomph's own version.
    pub oomph: String,
    /// The program's error.
    pub error: Option<String>,
}

/// The verdict on a configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum PointVerdict {
    /// The program fits.
    Fits,
    /// The program fits only because PyTorch releases the cache.
    Tight,
    /// The program runs out of memory.
    Oom,
    /// The program fails for another reason.
    #[default]
    Failed,
}

/// The way to a point's numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum HowKnown {
    /// A dry run.
    #[default]
    Run,
    /// A replay of dry runs at a smaller and a larger size; a third run between them was foretold to the byte.
    Replayed,
}

impl PointVerdict {
    /// True if the program gets through.
    pub fn is_good(self) -> bool {
        matches!(self, PointVerdict::Fits | PointVerdict::Tight)
    }
}
