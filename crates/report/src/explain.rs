//! The report of `explain` as values. The serialised form is the contract of `explain --json`
//! (docs/schema/README.md): keys are added, never renamed, and the doc comments are the descriptions in its schema.

mod memory;
mod picture;
mod tables;
mod verdict;

use serde::{Deserialize, Serialize};
use trace::text::StatedOom;
use trace::{Bytes, DeviceIndex};

use crate::breakdown::Breakdown;
use crate::check::{Growth, Place, Site, SiteFrame};
use crate::finding::{Finding, Location};
pub use memory::{DeviceMemory, Extent, Holder, MemoryPart};
pub use picture::{BlockPicture, Picture, SegmentPicture, Span, StackPicture, TotalsPoint};
pub use tables::{StatedCard, StatedCounters, StatedProcess, TableSource};
pub use verdict::ExplainVerdict;

/// The answer to "why did it run out of memory".
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExplainReport {
    /// oomph's own version.
    pub version: String,
    /// The inputs that were read, in the order of the command line.
    pub inputs: Vec<Input>,
    /// The findings, the most telling first; the evidence of each states the reason for its position.
    pub findings: Vec<Finding>,
    /// The errors found in texts, in the order of the texts.
    pub ooms: Vec<StatedOom>,
    /// For each error of `ooms`, the index of its input in `inputs`.
    pub oom_inputs: Vec<usize>,
    /// The index in `ooms` of the error that the figures are taken from.
    pub focus_oom: Option<usize>,
    /// The holders of the device's memory at the error, else at the peak; `None` if too little is known.
    pub memory: Option<DeviceMemory>,
    /// The largest use of memory on the device that the report is about; `None` if no trace or segment states it.
    pub peak: Option<HistoryPeak>,
    /// The allocated bytes at that peak, by category.
    pub breakdown: Option<Breakdown>,
    /// The lines that allocated the blocks alive at that peak, largest first.
    pub sites: Vec<Site>,
    /// Every device of every input that used memory. The report is about `devices[focus]`.
    pub devices: Vec<DeviceHistory>,
    /// The index in `devices` of the device that the report is about.
    pub focus: Option<usize>,
    /// PyTorch's tables found in texts.
    pub counters: Vec<StatedCounters>,
    /// The GPUs of `nvidia-smi`'s tables found in texts.
    pub cards: Vec<StatedCard>,
    /// The difference between two inputs, or between the ranks of one job.
    pub comparison: Option<Comparison>,
    /// Further remarks for the reader, a sentence each.
    pub notes: Vec<String>,
    /// The job of Slurm that the inputs are of: its state, its host memory and its nodes; `None` without `--slurm-job`.
    #[serde(default)]
    pub job: Option<String>,
    /// The reader's working directory: names of files in `headline` are relative to it.
    #[serde(default)]
    pub folder: String,
}

/// A file that was read, or standard input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Input {
    /// The name of the input as the user gave it; `-` for standard input.
    pub path: String,
    /// The detected kind.
    pub kind: InputKind,
    /// The versions of PyTorch that write such a file, e.g. `2.10 or 2.11`; `None` for a text.
    pub torch: Option<String>,
    /// The rank; `None` if neither the file's name nor its contents state a rank.
    pub rank: Option<u32>,
}

/// The kind of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum InputKind {
    /// A memory snapshot, pickled or as JSON.
    Snapshot,
    /// A run directory of oomph's.
    Run,
    /// A log or any other text with errors or tables in it.
    Text,
}

/// The counters of PyTorch's allocator at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counters {
    /// Allocated bytes.
    pub allocated_bytes: Bytes,
    /// Allocated blocks, and freed blocks that another stream may still use.
    pub active_bytes: Bytes,
    /// Reserved bytes.
    pub reserved_bytes: Bytes,
    /// The requested bytes of the allocated blocks.
    pub requested_bytes: Bytes,
}

/// The largest use of memory in a history.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HistoryPeak {
    /// `torch.cuda.max_memory_allocated()` over the history.
    pub allocated_bytes: Bytes,
    /// `torch.cuda.max_memory_reserved()` over the history; its instant may be another.
    pub reserved_bytes: Bytes,
    /// Set if the history begins with the program: then the figures are the program's peaks.
    pub whole: bool,
    /// The event after which the most was allocated, counted from 0; `None` without a history: then the figures are those of the dump.
    pub event: Option<u32>,
    /// The moment in the run.
    #[serde(flatten)]
    pub place: Place,
}

/// The history of a device in an input.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceHistory {
    /// The index of the input in `inputs`.
    pub input: usize,
    /// The device, in PyTorch's numbering within the process.
    pub device: DeviceIndex,
    /// The number of events in the history.
    pub events: u64,
    /// The largest use of memory.
    pub peak: HistoryPeak,
    /// The allocated bytes at the peak, by category.
    pub breakdown: Breakdown,
    /// The counters at the dump.
    pub at_dump: Counters,
    /// The last failed request in the history; `None` without a failure.
    pub oom: Option<HistoryOom>,
    /// The free memory at the error, or at the peak of a history without an error.
    pub fragmentation: Fragmentation,
    /// Growth from step to step; `None` without growth.
    pub growth: Option<Growth>,
    /// The number of steps, found by marks or by the repetition of the history.
    pub steps: u32,
    /// Use of memory over time, for a drawing.
    #[serde(skip)]
    pub picture: Picture,
}

/// A request that failed, as a history records it: to the byte, where a message is rounded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HistoryOom {
    /// The event, counted from 0.
    pub event: u32,
    /// The size of the request.
    pub requested_bytes: Bytes,
    /// The free memory of the device.
    pub free_bytes: Bytes,
    /// The allocator's counters at that instant.
    pub counters: Counters,
    /// The moment in the run.
    #[serde(flatten)]
    pub place: Place,
    /// The user's innermost line; `None` if the stack has no line of the user.
    pub location: Option<Location>,
}

/// The reserved memory that is not in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fragmentation {
    /// Reserved less active.
    pub free_bytes: Bytes,
    /// The largest free block: what a request can get without new device memory.
    pub largest_free_block_bytes: Bytes,
    /// Free blocks beside blocks in use, which cannot be released (`inactive_split_bytes`; expandable segments included).
    pub inactive_split_bytes: Bytes,
    /// The number of free blocks.
    pub free_blocks: u64,
    /// The number of segments with blocks in use.
    pub used_segments: u64,
    /// The number of segments.
    pub segments: u64,
}

/// The difference between two inputs, or between ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// The names of the sides, e.g. `rank 0` and `rank 1`, or two paths.
    pub sides: Vec<String>,
    /// The peaks, one for each side.
    pub peaks: Vec<HistoryPeak>,
    /// The lines whose bytes differ, the largest difference first.
    pub sites: Vec<SiteDifference>,
}

/// A line with more bytes on one side than on another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SiteDifference {
    /// The bytes of the line on each side; zero on a side without the line.
    pub bytes: Vec<Bytes>,
    /// The number of allocations on each side.
    pub counts: Vec<u64>,
    /// The stack, innermost first, shortened.
    pub frames: Vec<SiteFrame>,
}
