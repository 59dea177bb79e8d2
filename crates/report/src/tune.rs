//! The report of `tune` as values. The serialised form is the contract of `tune --json` (docs/schema/README.md):
//! keys are added, never renamed, and the doc comments are the descriptions in its schema.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use trace::{Bytes, DeviceIndex};

use crate::finding::{Finding, Standing};

/// The answer to "which settings of the allocator suit this program".
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TuneReport {
    /// oomph's own version.
    pub version: String,
    /// The version of PyTorch whose allocator was replayed, e.g. `2.11`.
    pub torch: String,
    /// The replayed traces. A setting's figures are the worst over all traces.
    pub traces: Vec<TunedTrace>,
    /// The device of the replays; `None` for a device of unlimited memory.
    pub device: Option<TunedDevice>,
    /// The settings of the recorded run.
    pub current: Setting,
    /// The recommended setting; `None` if no setting is better than the current settings.
    pub recommended: Option<Recommendation>,
    /// Every replayed setting, best first; settings that ran out of memory or need too many calls come last.
    pub settings: Vec<Setting>,
    /// The settings that are not beaten in both memory and time in calls, cheapest calls first.
    pub front: Vec<Setting>,
    /// Popular recommendations, replayed on this program.
    pub guides: Vec<Guide>,
    /// The effect of calls of `torch.cuda.empty_cache()` under the current settings.
    pub empty_cache: Vec<EmptyCache>,
    /// The most bytes alive at once: no allocator needs less.
    pub limit_bytes: Bytes,
    /// Reserved bytes beyond `limit_bytes`: the most that any allocator can save.
    pub savable_bytes: Bytes,
    /// The memory of a packing computed with knowledge of the whole program; `None` if the sizes overflow.
    pub packing_bytes: Option<Bytes>,
    /// The smallest memory in which the program runs through.
    pub needs: Needs,
    /// The extent of the search.
    pub search: Search,
    /// The assumed time of each call.
    pub cost_model: CostModel,
    /// The findings.
    pub findings: Vec<Finding>,
    /// The data sets that the recorded runs made up, of the right shapes, because of `--fake-data`.
    #[serde(default)]
    pub made_up_data: Vec<String>,
    /// Further remarks for the reader, a sentence each.
    pub notes: Vec<String>,
    /// The duration in seconds.
    pub seconds: f64,
    /// The reader's working directory: names of files in `headline` are relative to it.
    #[serde(default)]
    pub folder: String,
}

/// A recorded device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TunedTrace {
    /// The file or folder, as the user named it.
    pub path: String,
    /// The rank; `None` if neither the name nor the contents state one.
    pub rank: Option<u32>,
    /// The device, in PyTorch's numbering within the process.
    pub device: DeviceIndex,
    /// The number of events in the history.
    pub events: u64,
    /// Set if the history begins with the program.
    pub whole: bool,
    /// `torch.cuda.max_memory_reserved()` over the history.
    pub recorded_reserved_bytes: Bytes,
    /// Peak reserved bytes of the replay under the recorded settings.
    pub replayed_reserved_bytes: Bytes,
    /// The agreement of the replay under the recorded settings with the recording.
    pub agreement: Agreement,
}

/// The agreement of a replay with the recording.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Agreement {
    /// Set if the replay repeats the recording entirely.
    pub exact: bool,
    /// The number of events of segments (reserved, released, failed) that the replay repeats.
    pub segment_events: u64,
    /// The number of requests that the replay places at the recorded address.
    pub placements: u64,
    /// The first difference; `None` without a difference.
    pub difference: Option<String>,
}

/// A device, by its memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TunedDevice {
    /// The source of the figures: the GPU's name, or the error in the history.
    pub name: String,
    /// The device's memory.
    pub total_bytes: Bytes,
    /// The memory that PyTorch's allocator can reserve.
    pub usable_bytes: Bytes,
}

/// The outcome of a program under a setting; of several traces, the worst of each figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Setting {
    /// The value of `PYTORCH_CUDA_ALLOC_CONF`; empty for the defaults.
    pub conf: String,
    /// Peak reserved bytes.
    pub reserved_bytes: Bytes,
    /// Peak allocated bytes, in whole blocks, as PyTorch counts.
    pub allocated_bytes: Bytes,
    /// The peak number of segments, as `memory_stats` counts: without expandable segments.
    pub segments: u64,
    /// The number of times that the cache was released to serve a request.
    pub retries: u64,
    /// Set if a request failed.
    pub oom: bool,
    /// The calls of the driver.
    pub calls: Calls,
    /// The time of the calls by `cost_model`, in microseconds.
    pub cost_us: u64,
    /// Set if the calls take too long to recommend the setting.
    pub too_costly: bool,
    /// `reserved_bytes` of each trace; left out of the report of a single trace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reserved_bytes_by_trace: Vec<Bytes>,
}

/// Calls of the driver over the whole recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Calls {
    /// Calls of `cudaMalloc`.
    pub cuda_malloc: u64,
    /// Calls of `cudaFree`.
    pub cuda_free: u64,
    /// Pages of expandable segments that were mapped.
    pub pages_mapped: u64,
    /// Pages of expandable segments that were unmapped.
    pub pages_unmapped: u64,
}

/// A recommended setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Recommendation {
    /// The outcome of the setting.
    #[serde(flatten)]
    pub setting: Setting,
    /// Reserved bytes under the current settings less reserved bytes under this setting.
    pub saved_bytes: Bytes,
    /// Reserved bytes beyond `limit_bytes`.
    pub above_limit_bytes: Bytes,
    /// The proof behind the figures.
    pub standing: Standing,
    /// The basis of the standing.
    pub how: String,
    /// The environment variable to set.
    pub variable: Cow<'static, str>,
    /// The setting as a line of a shell or of Python.
    pub lines: Lines,
    /// The best setting without expandable segments, which Windows and some interconnects lack; `None` if the recommendation does not use them.
    pub without_expandable: Option<Setting>,
    /// A run of the real allocator under the setting; `None` without a run.
    pub measured: Option<Measured>,
}

/// A setting as lines to copy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lines {
    /// For bash and other Unix shells.
    pub bash: String,
    /// For PowerShell.
    pub powershell: String,
    /// For `cmd.exe`.
    pub cmd: String,
    /// For a script, before PyTorch first uses CUDA.
    pub python: String,
}

/// The outcome of a run of the real allocator under the setting.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Measured {
    /// `torch.cuda.max_memory_reserved()`.
    pub reserved_bytes: Bytes,
    /// `torch.cuda.max_memory_allocated()`.
    pub allocated_bytes: Bytes,
    /// The number of times that the cache was released to serve a request.
    pub retries: u64,
    /// Set if the run ended with an out-of-memory error.
    pub oom: bool,
    /// Set if reserved bytes and retries equal the prediction.
    pub as_predicted: bool,
}

/// A popular recommendation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Guide {
    /// The outcome; all zero if PyTorch rejects the setting.
    #[serde(flatten)]
    pub setting: Setting,
    /// Reserved bytes less the current reserved bytes.
    pub change_bytes: i64,
    /// The effect compared with the current settings.
    pub effect: Effect,
    /// PyTorch's error message if it rejects the setting, else `None`.
    pub refused: Option<String>,
}

/// The effect of a setting compared with the current one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Less memory.
    Better,
    /// As much memory.
    Same,
    /// More memory.
    Worse,
    /// A request fails that the current settings serve.
    RunsOut,
    /// PyTorch rejects the setting.
    Refused,
}

impl Effect {
    /// The name in reports.
    pub fn word(self) -> &'static str {
        match self {
            Effect::Better => "better",
            Effect::Same => "same",
            Effect::Worse => "worse",
            Effect::RunsOut => "runs out",
            Effect::Refused => "refused",
        }
    }
}

/// The program with other calls of `torch.cuda.empty_cache()`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EmptyCache {
    /// The position of the calls, e.g. `after each step`.
    pub at: String,
    /// The number of calls over the recording; of several traces, the largest.
    pub times: u64,
    /// The outcome under the current settings.
    #[serde(flatten)]
    pub setting: Setting,
}

/// The smallest memory for PyTorch's allocator in which the program runs through.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Needs {
    /// The bytes under the current settings; `None` if the search ended early.
    pub current_bytes: Option<Bytes>,
    /// The bytes under the recommended settings.
    pub recommended_bytes: Option<Bytes>,
    /// A larger size at which the program failed, or a smaller size at which the program ran through; `None` if no size contradicts the figures.
    pub contradicted_at: Option<Bytes>,
}

/// The extent of the search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Search {
    /// The number of settings considered.
    pub considered: u64,
    /// The number of settings that differ on this program and were replayed.
    pub replayed: u64,
    /// Set if the search ended early.
    pub interrupted: bool,
}

/// The assumed times of calls, in microseconds. No time is measured on the user's machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CostModel {
    /// The time of a `cudaMalloc`.
    pub cuda_malloc_us: u64,
    /// The time of a `cudaFree`, which also waits for the device.
    pub cuda_free_us: u64,
    /// The time to map or unmap a page of an expandable segment.
    pub page_us: u64,
    /// The time of a release of the cache without its calls: a wait for all streams.
    pub retry_us: u64,
}
