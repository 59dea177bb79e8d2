//! The tables that people paste: PyTorch's counters and the output of `nvidia-smi`.

use serde::{Deserialize, Serialize};
use trace::text::StatedBytes;

/// The counters of one device in a table of PyTorch's; a counter that the table lacks is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatedCounters {
    /// The index of the input in `inputs`.
    pub input: usize,
    /// The first line of the table in the text, counted from 1.
    pub line: u32,
    /// The function that prints the table.
    pub source: TableSource,
    /// The rank that a prefix of the line names.
    pub rank: Option<u32>,
    /// The device, in PyTorch's numbering; `memory_stats` does not state a device.
    pub device_index: Option<u32>,
    /// The allocated bytes.
    pub allocated_bytes: Option<StatedBytes>,
    /// The peak of the allocated bytes.
    pub allocated_peak_bytes: Option<StatedBytes>,
    /// The active bytes: allocated blocks, and freed blocks that wait for other streams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_bytes: Option<StatedBytes>,
    /// The reserved bytes.
    pub reserved_bytes: Option<StatedBytes>,
    /// The peak of the reserved bytes.
    pub reserved_peak_bytes: Option<StatedBytes>,
    /// Free blocks beside blocks in use, which cannot be released.
    pub inactive_split_bytes: Option<StatedBytes>,
    /// The number of times that the cache was released and `cudaMalloc` retried.
    pub retries: Option<u64>,
    /// Out-of-memory errors so far, including errors that PyTorch caught.
    pub ooms: Option<u64>,
}

/// A function of PyTorch's that prints the allocator's counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TableSource {
    /// `torch.cuda.memory_summary()`.
    #[default]
    MemorySummary,
    /// `torch.cuda.memory_stats()`.
    MemoryStats,
}

impl TableSource {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            TableSource::MemorySummary => "memory_summary",
            TableSource::MemoryStats => "memory_stats",
        }
    }
}

/// A GPU in the output of `nvidia-smi`; a value that the output lacks is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatedCard {
    /// The index of the input in `inputs`.
    pub input: usize,
    /// The first line of the table in the text, counted from 1.
    pub line: u32,
    /// The GPU's number, as `nvidia-smi` counts.
    pub index: Option<u32>,
    /// The GPU's name.
    pub name: Option<String>,
    /// The GPU's memory.
    pub total_bytes: Option<StatedBytes>,
    /// The GPU's memory in use.
    pub used_bytes: Option<StatedBytes>,
    /// The processes on the GPU; `None` if the table has no list of processes.
    pub processes: Option<Vec<StatedProcess>>,
}

/// A process on a GPU.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatedProcess {
    /// The process id; `None` if the driver does not state one.
    pub pid: Option<u32>,
    /// The process's name, as printed.
    pub name: String,
    /// The process's memory; `None` if the driver does not state a size.
    pub bytes: Option<StatedBytes>,
}
