//! Everything `tune` says, as values. Its serialisation is the `--json` contract of DESIGN.md §3.

use serde::Serialize;
use trace::{Bytes, DeviceIndex};

use crate::finding::{Finding, Standing};

/// The answer to "which settings of the allocator suit this program".
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TuneReport {
    /// oomph's own version.
    pub version: String,
    /// The version of PyTorch whose allocator was replayed, e.g. `2.11`.
    pub torch: String,
    /// What was replayed. A setting's figures are the worst over all of them.
    pub traces: Vec<TunedTrace>,
    /// The device that everything was replayed on; `None` = one that is never full.
    pub device: Option<TunedDevice>,
    /// The settings that the program was recorded with.
    pub current: Setting,
    /// What to set, where that changes anything for the better.
    pub recommended: Option<Recommendation>,
    /// Every setting that was replayed, the best first: those that ran out or cost too many calls come last.
    pub settings: Vec<Setting>,
    /// The settings of which no other has both less memory and less time in calls: the cheapest calls first.
    pub front: Vec<Setting>,
    /// What is often recommended, on this program.
    pub guides: Vec<Guide>,
    /// What calls of `torch.cuda.empty_cache()` do under the current settings.
    pub empty_cache: Vec<EmptyCache>,
    /// The most bytes alive at once: no allocator needs less.
    pub limit_bytes: Bytes,
    /// What is reserved now beyond that: no allocator could save more.
    pub savable_bytes: Bytes,
    /// What a packing needs that knows the whole program beforehand; `None` where the sizes are beyond all bounds.
    pub packing_bytes: Option<Bytes>,
    /// The least memory in which the program runs through.
    pub needs: Needs,
    /// What the search did.
    pub search: Search,
    /// What is assumed to be the price of a call.
    pub cost_model: CostModel,
    /// What is wrong, with the remedy.
    pub findings: Vec<Finding>,
    /// What else the reader should know, one sentence each.
    pub notes: Vec<String>,
    /// How long it took.
    pub seconds: f64,
    /// The folder that paths are shown relative to on a terminal.
    #[serde(skip)]
    pub folder: String,
}

/// One recorded device.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TunedTrace {
    /// The file or folder, as it was named.
    pub path: String,
    /// The rank, where the name or the contents say so.
    pub rank: Option<u32>,
    /// As PyTorch numbers it in that process.
    pub device: DeviceIndex,
    /// How many events its history has.
    pub events: u64,
    /// Whether the history begins with the program.
    pub whole: bool,
    /// `max_memory_reserved` as the history has it.
    pub recorded_reserved_bytes: Bytes,
    /// What the replay comes to under the recorded settings.
    pub replayed_reserved_bytes: Bytes,
    /// How far the replay under the recorded settings did what was recorded.
    pub agreement: Agreement,
}

/// How far a replay did what was recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Agreement {
    /// Whether everything was as recorded.
    pub exact: bool,
    /// Segments obtained and released, and failures, each as recorded.
    pub segment_events: u64,
    /// Requests that got the recorded address.
    pub placements: u64,
    /// The first thing that was otherwise.
    pub difference: Option<String>,
}

/// A device of so much memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TunedDevice {
    /// Where the figures come from: the GPU's name, or the error in the history.
    pub name: String,
    /// All of it.
    pub total_bytes: Bytes,
    /// What PyTorch's allocator can have of it.
    pub usable_bytes: Bytes,
}

/// What a program came to under some settings; with several traces the worst of each figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Setting {
    /// The value of `PYTORCH_CUDA_ALLOC_CONF`; empty for the defaults.
    pub conf: String,
    /// The most that was reserved.
    pub reserved_bytes: Bytes,
    /// The most that was allocated: whole blocks, as PyTorch counts.
    pub allocated_bytes: Bytes,
    /// The most segments there were at once, as `memory_stats` counts: expandable ones do not.
    pub segments: u64,
    /// How often everything cached was released to serve a request.
    pub retries: u64,
    /// Whether a request failed.
    pub oom: bool,
    /// What was asked of the driver.
    pub calls: Calls,
    /// What these calls take by the [`CostModel`], in microseconds.
    pub cost_us: u64,
    /// Whether they take too long to recommend the setting.
    pub too_costly: bool,
    /// `reserved_bytes` for each trace, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reserved_bytes_by_trace: Vec<Bytes>,
}

/// Calls of the driver over the whole recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Calls {
    /// `cudaMalloc`.
    pub cuda_malloc: u64,
    /// `cudaFree`.
    pub cuda_free: u64,
    /// Pages of expandable segments that were mapped.
    pub pages_mapped: u64,
    /// Pages of expandable segments that were unmapped.
    pub pages_unmapped: u64,
}

/// A setting to use, and how.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recommendation {
    /// What it comes to.
    #[serde(flatten)]
    pub setting: Setting,
    /// What it reserves less than is reserved now.
    pub saved_bytes: Bytes,
    /// What it reserves beyond the most bytes alive at once.
    pub above_limit_bytes: Bytes,
    /// How well that is known.
    pub standing: Standing,
    /// What the standing rests on.
    pub how: String,
    /// The environment variable to set.
    pub variable: &'static str,
    /// The setting as a line of a shell or of Python.
    pub lines: Lines,
    /// The best without expandable segments, which Windows and some interconnects do not have; `None` where that is this one.
    pub without_expandable: Option<Setting>,
    /// A real run under the setting; `None` where none was made.
    pub measured: Option<Measured>,
}

/// A setting as lines to copy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
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

/// What a run of the real allocator under the setting came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Measured {
    /// `max_memory_reserved`.
    pub reserved_bytes: Bytes,
    /// `max_memory_allocated`.
    pub allocated_bytes: Bytes,
    /// Retries.
    pub retries: u64,
    /// Whether it ran out.
    pub oom: bool,
    /// Whether it reserved and retried as predicted.
    pub as_predicted: bool,
}

/// Something that is often recommended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Guide {
    /// What it comes to; all zero where PyTorch refuses it.
    #[serde(flatten)]
    pub setting: Setting,
    /// Reserved bytes more than now; negative is less.
    pub change_bytes: i64,
    /// In a word, against the current settings.
    pub effect: Effect,
    /// What PyTorch says of it, where it refuses it.
    pub refused: Option<String>,
}

/// What a setting does in comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Less memory.
    Better,
    /// As much memory.
    Same,
    /// More memory.
    Worse,
    /// A request fails that does not now.
    RunsOut,
    /// PyTorch does not take it.
    Refused,
}

impl Effect {
    /// The word for it in reports.
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

/// The program with other calls of `torch.cuda.empty_cache()` than it makes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EmptyCache {
    /// Where it is called, e.g. `after each step`.
    pub at: String,
    /// How often, over the recording; with several the most.
    pub times: u64,
    /// What that comes to, under the current settings.
    #[serde(flatten)]
    pub setting: Setting,
}

/// The least memory, of what PyTorch's allocator can have, in which the program runs through.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Needs {
    /// Under the current settings; `None` where the search for it was ended.
    pub current_bytes: Option<Bytes>,
    /// Under the recommended ones.
    pub recommended_bytes: Option<Bytes>,
    /// A size beyond it at which the program failed all the same, or one below it at which it did not.
    pub contradicted_at: Option<Bytes>,
}

/// What the search did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Search {
    /// Settings that were considered.
    pub considered: u64,
    /// Those that differ on this program, and were replayed.
    pub replayed: u64,
    /// Whether it was ended before its end.
    pub interrupted: bool,
}

/// What calls are assumed to take, in microseconds. None of it was measured here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CostModel {
    /// One `cudaMalloc`.
    pub cuda_malloc_us: u64,
    /// One `cudaFree`, which also waits for the device.
    pub cuda_free_us: u64,
    /// One page of an expandable segment, mapped or unmapped.
    pub page_us: u64,
    /// One release of everything cached, besides its calls: all streams are waited for.
    pub retry_us: u64,
}
