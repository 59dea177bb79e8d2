//! Everything `explain` says, as values. Its serialisation is the `--json` contract of DESIGN.md §3.

mod memory;
mod picture;
mod tables;

use serde::Serialize;
use trace::text::StatedOom;
use trace::{Bytes, DeviceIndex};

use crate::breakdown::Breakdown;
use crate::check::{Growth, Place, Site, SiteFrame};
use crate::finding::{Finding, Location};
pub use memory::{DeviceMemory, Extent, Holder, MemoryPart};
pub use picture::{BlockPicture, Picture, SegmentPicture, Span, StackPicture, TotalsPoint};
pub use tables::{StatedCard, StatedCounters, StatedProcess};

/// The answer to "why did it run out of memory".
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ExplainReport {
    /// oomph's own version.
    pub version: String,
    /// What was read, in the order it was named.
    pub inputs: Vec<Input>,
    /// The most telling first; the reason for the order is in each one's evidence.
    pub findings: Vec<Finding>,
    /// The errors found in texts, in the order they stand there.
    pub ooms: Vec<StatedOom>,
    /// Which input each error stands in: index into [`ExplainReport::inputs`], as many as there are `ooms`.
    pub oom_inputs: Vec<usize>,
    /// Which of the errors the report is about: the one that its figures are taken from.
    pub focus_oom: Option<usize>,
    /// Where the memory of the device was when it ran out, else at the peak; `None` where too little is known of it.
    pub memory: Option<DeviceMemory>,
    /// The largest use of memory on the device that the report is about; `None` where no trace or segment gives it.
    pub peak: Option<HistoryPeak>,
    /// What the allocated bytes at that peak hold.
    pub breakdown: Option<Breakdown>,
    /// The lines that made what was alive at that peak, largest first.
    pub sites: Vec<Site>,
    /// Every device of every input that used memory. The report is about `devices[focus]`.
    pub devices: Vec<DeviceHistory>,
    /// Which of the devices the report is about.
    pub focus: Option<usize>,
    /// PyTorch's tables found in texts.
    pub counters: Vec<StatedCounters>,
    /// The GPUs of `nvidia-smi`'s tables found in texts.
    pub cards: Vec<StatedCard>,
    /// What changed between two inputs, or how the ranks of one job differ.
    pub comparison: Option<Comparison>,
    /// What else the reader should know, one sentence each.
    pub notes: Vec<String>,
    /// The folder that paths are shown relative to on a terminal.
    #[serde(skip)]
    pub folder: String,
}

/// A file that was read, or standard input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Input {
    /// As it was named; `-` for standard input.
    pub path: String,
    /// What it turned out to be.
    pub kind: InputKind,
    /// Which versions of PyTorch write such a file, e.g. `2.10 or 2.11`; `None` for a text.
    pub torch: Option<String>,
    /// The rank it is of, where its name or its contents say so.
    pub rank: Option<u32>,
}

/// What an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// In the program's hands.
    pub allocated_bytes: Bytes,
    /// Allocated, and freed ones that another stream may still use.
    pub active_bytes: Bytes,
    /// Held by the allocator.
    pub reserved_bytes: Bytes,
    /// What the program asked for, of what it holds.
    pub requested_bytes: Bytes,
}

/// The largest use of memory in a history.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HistoryPeak {
    /// `torch.cuda.max_memory_allocated()` over the history.
    pub allocated_bytes: Bytes,
    /// `torch.cuda.max_memory_reserved()` over the history; its instant may be another.
    pub reserved_bytes: Bytes,
    /// Whether the history begins at the program's beginning, so that these are the program's peaks.
    pub whole: bool,
    /// The event after which the most was allocated, counted from 0; `None` without history: then this is the dump.
    pub event: Option<u32>,
    /// When that was.
    #[serde(flatten)]
    pub place: Place,
}

/// One device of one input.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DeviceHistory {
    /// Index into [`ExplainReport::inputs`].
    pub input: usize,
    /// As PyTorch numbers it in that process.
    pub device: DeviceIndex,
    /// How many events its history has.
    pub events: u64,
    /// The largest use of memory.
    pub peak: HistoryPeak,
    /// What the allocated bytes at the peak hold.
    pub breakdown: Breakdown,
    /// At the dump.
    pub at_dump: Counters,
    /// The last time that a request failed, if the history has one.
    pub oom: Option<HistoryOom>,
    /// Where the free memory is, at the error if there was one, else at the peak.
    pub fragmentation: Fragmentation,
    /// Growth from step to step, if there is any.
    pub growth: Option<Growth>,
    /// Steps found, by marks or by the repetition of the history.
    pub steps: u32,
    /// Use of memory over time, for a drawing.
    #[serde(skip)]
    pub picture: Picture,
}

/// A request that failed, as a history records it: to the byte, where a message is rounded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HistoryOom {
    /// The event, counted from 0.
    pub event: u32,
    /// What was asked for.
    pub requested_bytes: Bytes,
    /// What was free on the device.
    pub free_bytes: Bytes,
    /// The allocator's counters at that instant.
    pub counters: Counters,
    /// When that was.
    #[serde(flatten)]
    pub place: Place,
    /// The user's innermost own line.
    pub location: Option<Location>,
}

/// Where the memory is that is reserved and not in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Fragmentation {
    /// Reserved less active.
    pub free_bytes: Bytes,
    /// The largest free block: what a request can get without new device memory.
    pub largest_free_block_bytes: Bytes,
    /// Free blocks beside blocks in use: they cannot be given back (`inactive_split_bytes`; expandable segments included).
    pub inactive_split_bytes: Bytes,
    /// Free blocks.
    pub free_blocks: u64,
    /// Segments in which something is in use.
    pub used_segments: u64,
    /// All segments.
    pub segments: u64,
}

/// What changed from one input to another, or what differs between ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Comparison {
    /// What is compared, e.g. `rank 0` and `rank 1`, or the two paths.
    pub sides: Vec<String>,
    /// The peaks, one for each side.
    pub peaks: Vec<HistoryPeak>,
    /// Lines whose bytes differ, the largest difference first.
    pub sites: Vec<SiteDifference>,
}

/// A line that holds more on one side than on another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SiteDifference {
    /// What it holds on each side, zero where it is absent.
    pub bytes: Vec<Bytes>,
    /// How many allocations on each side.
    pub counts: Vec<u64>,
    /// Its stack, innermost first, shortened.
    pub frames: Vec<SiteFrame>,
}
