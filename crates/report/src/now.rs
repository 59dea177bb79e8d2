//! The report of `explain --pid` about a running program: its memory by line. The serialised form is the contract of its JSON
//! (docs/schema/README.md).

use serde::Serialize;
use trace::Bytes;

use crate::breakdown::Breakdown;
use crate::finding::Location;
use crate::metrics::DeviceMetrics;

/// The memory of a running program, or of a program at the moment of a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NowReport {
    /// oomph's own version.
    pub version: String,
    /// Every device of every process; empty if no process has used a GPU through PyTorch yet.
    pub devices: Vec<DeviceNow>,
    /// The reader's working directory: names of files in `headline` are relative to it.
    pub folder: String,
}

/// The memory of a process on one device.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceNow {
    /// The rank, if the program has several processes.
    pub rank: Option<u32>,
    /// The completed optimizer steps.
    pub steps: u32,
    /// The figures.
    #[serde(flatten)]
    pub figures: DeviceMetrics,
    /// The line that allocates the growth of a step.
    pub grows_at: Option<Location>,
    /// The allocated memory by category, guessed from stacks; `None` if allocations are not recorded.
    pub contents: Option<Breakdown>,
    /// The lines by their allocated memory, most first; empty if allocations are not recorded.
    pub lines: Vec<HeldLine>,
}

/// The allocated memory of one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HeldLine {
    /// The line; `None` for blocks without a line of the program.
    pub location: Option<Location>,
    /// The memory.
    pub bytes: Bytes,
    /// The number of blocks.
    pub blocks: u64,
}

impl NowReport {
    /// True if the memory of a process grows from step to step.
    pub fn is_growing(&self) -> bool {
        self.devices.iter().any(|device| device.figures.growth.is_some())
    }

    /// The device that the first sentence is about: the first to be full if memory grows, else the fullest.
    pub fn focused(&self) -> Option<&DeviceNow> {
        let growing = self.devices.iter().filter_map(|device| Some((device, device.figures.growth?.steps_to_error)));
        let first = growing.min_by_key(|(_, steps)| *steps).map(|(device, _)| device);
        first.or_else(|| self.devices.iter().max_by_key(|device| device.figures.allocated_bytes))
    }
}
