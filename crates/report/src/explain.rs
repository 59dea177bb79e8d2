//! Everything `explain` says, as values. Its serialisation is the `--json` contract of DESIGN.md §3.

use serde::Serialize;
use trace::text::StatedOom;
use trace::{Address, Bytes, DeviceIndex, SegmentKind};

use crate::breakdown::Breakdown;
use crate::check::{Growth, Place, Site, SiteFrame};
use crate::finding::Finding;

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

/// What a drawing of a device's history needs, already thinned out: its size does not depend on the history's length.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Picture {
    /// The totals over time, at most a few thousand points; peaks survive the thinning.
    pub totals: Vec<TotalsPoint>,
    /// The largest allocations, each from its beginning to its end, in the order they began.
    pub spans: Vec<Span>,
    /// The segments at the peak, by address.
    pub segments: Vec<SegmentPicture>,
    /// The stacks that `spans` and `segments` refer to, and the bytes of each that are alive at the peak.
    pub stacks: Vec<StackPicture>,
}

/// The totals after an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TotalsPoint {
    /// Which event.
    pub event: u32,
    /// When, in microseconds since 1970, where the history says.
    pub time_us: Option<u64>,
    /// In the program's hands.
    pub allocated_bytes: Bytes,
    /// Held by the allocator.
    pub reserved_bytes: Bytes,
}

/// An allocation from its beginning to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Span {
    /// The event that made it; 0 where it is older than the history.
    pub from: u32,
    /// The event that freed it; the number of events where nothing did.
    pub to: u32,
    /// Its block.
    pub bytes: Bytes,
    /// Index into [`Picture::stacks`].
    pub stack: u32,
}

/// A segment at the peak.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SegmentPicture {
    /// Where it starts.
    pub address: Address,
    /// Its size.
    pub bytes: Bytes,
    /// Its size class, where known.
    #[serde(serialize_with = "kind_name")]
    pub kind: Option<SegmentKind>,
    /// Whether it is a mapped range of an expandable segment.
    pub is_expandable: bool,
    /// The blocks in use, by offset; what lies between them is free.
    pub blocks: Vec<BlockPicture>,
}

/// A block in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BlockPicture {
    /// From the start of its segment.
    pub offset: u64,
    /// Its size.
    pub bytes: Bytes,
    /// Index into [`Picture::stacks`].
    pub stack: u32,
}

/// A stack, and what it made that is alive at the peak.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StackPicture {
    /// Innermost first; empty where none was recorded.
    pub frames: Vec<SiteFrame>,
    /// In blocks.
    pub bytes: Bytes,
    /// How many allocations.
    pub count: u64,
}

#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde's calling convention")]
fn kind_name<S: serde::Serializer>(kind: &Option<SegmentKind>, serializer: S) -> Result<S::Ok, S::Error> {
    let name = kind.map(|kind| match kind {
        SegmentKind::Small => "small",
        SegmentKind::Large => "large",
    });
    name.serialize(serializer)
}
