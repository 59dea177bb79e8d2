//! The tables that people paste: what PyTorch counted, and what `nvidia-smi` showed.

use serde::Serialize;
use trace::text::StatedBytes;

/// What a table of PyTorch's states of one device; what it does not state is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StatedCounters {
    /// Index into [`crate::explain::ExplainReport::inputs`].
    pub input: usize,
    /// The line of the text on which it starts, counted from 1.
    pub line: u32,
    /// The function that prints it: `memory_summary` or `memory_stats`.
    pub source: &'static str,
    /// The rank that a prefix of the line names.
    pub rank: Option<u32>,
    /// The device, as PyTorch numbers it; `memory_stats` does not say.
    pub device_index: Option<u32>,
    /// In the program's hands.
    pub allocated_bytes: Option<StatedBytes>,
    /// The most that ever was.
    pub allocated_peak_bytes: Option<StatedBytes>,
    /// Held by the allocator.
    pub reserved_bytes: Option<StatedBytes>,
    /// The most that ever was.
    pub reserved_peak_bytes: Option<StatedBytes>,
    /// Free blocks beside blocks in use, which cannot be given back.
    pub inactive_split_bytes: Option<StatedBytes>,
    /// How often the cache was given back and the device asked again.
    pub retries: Option<u64>,
    /// Out-of-memory errors so far, those that PyTorch caught itself included.
    pub ooms: Option<u64>,
}

/// A GPU as `nvidia-smi` shows it; what it does not show is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StatedCard {
    /// Index into [`crate::explain::ExplainReport::inputs`].
    pub input: usize,
    /// The line of the text on which the table starts, counted from 1.
    pub line: u32,
    /// The GPU's number, as `nvidia-smi` counts.
    pub index: Option<u32>,
    /// Its name.
    pub name: Option<String>,
    /// Its memory.
    pub total_bytes: Option<StatedBytes>,
    /// What is in use.
    pub used_bytes: Option<StatedBytes>,
    /// Who uses it; `None` where the table has no list of processes.
    pub processes: Option<Vec<StatedProcess>>,
}

/// A process on a GPU.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StatedProcess {
    /// Its process id; `None` where the driver does not say.
    pub pid: Option<u32>,
    /// Its name, as printed.
    pub name: String,
    /// What it uses; `None` where the driver does not say.
    pub bytes: Option<StatedBytes>,
}
