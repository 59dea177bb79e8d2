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
    /// The names of the grid, in the user's order, with the settings of the program that they mean.
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
    /// The number of points that an earlier call had found.
    pub kept: u64,
    /// True if the user ended the sweep, or work was lost: a resume makes what is missing.
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
    /// Its memory, without what other processes use.
    pub capacity_bytes: Bytes,
    /// The GPU that the dry runs were made for, which has the same compute capability.
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
    /// Whether it fits.
    pub verdict: PointVerdict,
    /// The most memory in use, context and libraries included; `None` for a program that failed.
    pub need_bytes: Option<Bytes>,
    /// The GPU's memory less the need; negative if there is too little.
    pub spare_bytes: Option<i64>,
    /// The GPU's memory, without what other processes use.
    pub capacity_bytes: Bytes,
    /// `max_memory_allocated` of PyTorch.
    pub allocated_bytes: Option<Bytes>,
    /// `max_memory_reserved` of PyTorch.
    pub reserved_bytes: Option<Bytes>,
    /// The words that start the program so, as a shell takes them; edits of the source and of files are not in it.
    pub command: String,
    /// Whether a dry run or a replay says so.
    pub how: HowKnown,
    /// The seconds of the dry run.
    pub seconds: f64,
    /// The version of PyTorch.
    pub torch: Option<String>,
    /// oomph's own version.
    pub oomph: String,
    /// The program's error, if it failed.
    pub error: Option<String>,
}

/// The verdict on a configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum PointVerdict {
    /// It fits.
    Fits,
    /// It fits only because PyTorch releases its cache.
    Tight,
    /// It runs out of memory.
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
    /// A replay of dry runs at a smaller and a larger size, between which a third run was foretold to the byte.
    Replayed,
}

impl PointVerdict {
    /// True if the program gets through.
    pub fn is_good(self) -> bool {
        matches!(self, PointVerdict::Fits | PointVerdict::Tight)
    }
}
