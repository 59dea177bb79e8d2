//! The report of `explain A B` about two recorded runs, as values. The serialised form is the contract of its JSON
//! (docs/schema/README.md). Pairs have the figure of A first.

use serde::{Deserialize, Serialize};
use trace::{Bytes, DeviceIndex, Phase};

use crate::finding::Location;

/// The first difference between two recorded runs, and the memory of both.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgainstReport {
    /// oomph's own version.
    pub version: String,
    /// The runs A and B.
    pub runs: [ComparedRun; 2],
    /// Every device of every process that both runs have, by rank.
    pub devices: Vec<ComparedDevice>,
    /// The index in `devices` of the device that the first sentence is about; `None` if no device was used by both runs.
    pub focus: Option<usize>,
    /// The ranks and devices that a single run has.
    pub alone: Vec<AloneDevice>,
    /// Differences of versions, of the GPU, of settings and of the command.
    pub settings: Vec<SettingDifference>,
    /// Further remarks for the reader, a sentence each.
    pub notes: Vec<String>,
    /// The reader's working directory: names of files in `headline` are relative to it.
    #[serde(default)]
    pub folder: String,
}

/// A run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedRun {
    /// The folder of the recording, as the user gave it.
    pub path: String,
    /// Set for a run on a phantom GPU that `oomph check` recorded.
    pub is_dry: bool,
    /// The number of optimizer steps.
    pub steps: u32,
    /// The end of a run that did not end well: `ended after step 1 with ValueError (train.py:40)`.
    pub failed: Option<String>,
    /// Set if the run ended for want of memory.
    pub ran_out: bool,
}

/// A device of a process in both runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedDevice {
    /// The rank.
    pub rank: u32,
    /// The device, in PyTorch's numbering within the process.
    pub device: DeviceIndex,
    /// The number of requests that are equal in size and line, and were paired.
    pub equal_requests: u64,
    /// The number of lines that an edit of the program has moved; they are named by their numbers in A.
    pub moved_lines: u64,
    /// The number of steps that both runs have.
    pub steps: u32,
    /// The number of compared requests without a pair.
    pub unpaired_requests: [u64; 2],
    /// The first requests without a pair; `None` if the compared requests are equal.
    pub parting: Option<Parting>,
    /// The first block that one of the runs keeps longer; `None` if every block is freed in the same step.
    pub keeping: Option<Keeping>,
    /// The part of the longer run that was not compared.
    pub surplus: Option<Surplus>,
    /// The peak of each run.
    pub peaks: [ComparedPeak; 2],
    /// The lines whose bytes at the peaks differ, the largest difference first.
    pub lines: Vec<LineDifference>,
    /// The lines whose requests have no pair, the largest sum of bytes first.
    pub unpaired_lines: Vec<LineDifference>,
}

/// The first requests without a pair.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Parting {
    /// The step, counted from 1; `None` if the program makes no steps.
    pub step: Option<u32>,
    /// The requests; `None` where a run makes no request at this moment.
    pub requests: [Option<ComparedRequest>; 2],
    /// Set if both runs make the same requests, in another order.
    pub is_reordered: bool,
    /// Set if every request without a pair is made inside libraries, such as a workspace.
    pub is_of_libraries: bool,
}

/// A request for memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedRequest {
    /// The line.
    #[serde(flatten)]
    pub line: ComparedLine,
    /// The size of the block.
    pub bytes: Bytes,
    /// Set if the request could not be served.
    pub is_failed: bool,
}

/// The line of a request, as far as known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedLine {
    /// The line of the program, else the innermost line of a library; `None` if no Python ran, as in autograd's threads.
    pub location: Option<Location>,
    /// The phase of a request without a line.
    pub phase: Option<Phase>,
    /// Set for memory of libraries: no line of the program is on the stack, or the block is a workspace.
    pub is_of_library: bool,
}

/// A block that one of the runs keeps longer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Keeping {
    /// The request of the block.
    pub request: ComparedRequest,
    /// The step of the request.
    pub step: u32,
    /// The step in which each run frees the block; `None` if the block is kept to the end of the compared steps.
    pub freed: [Option<u32>; 2],
}

/// The part of the longer run behind the end of the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Surplus {
    /// 0 for A, 1 for B.
    pub run: usize,
    /// The further steps.
    pub steps: u32,
    /// The further requests.
    pub requests: u64,
}

/// The largest use of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedPeak {
    /// The most allocated bytes.
    pub allocated_bytes: Bytes,
    /// The most reserved bytes.
    pub reserved_bytes: Bytes,
}

/// The bytes of one line in each run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LineDifference {
    /// The line.
    #[serde(flatten)]
    pub line: ComparedLine,
    /// The bytes.
    pub bytes: [Bytes; 2],
    /// The number of blocks.
    pub counts: [u64; 2],
}

/// A rank or a device that a single run has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AloneDevice {
    /// 0 for A, 1 for B.
    pub run: usize,
    /// The rank.
    pub rank: u32,
    /// The device.
    pub device: DeviceIndex,
    /// The most allocated bytes.
    pub allocated_bytes: Bytes,
}

/// A setting or a version with two values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SettingDifference {
    /// The name, such as `torch`.
    pub name: String,
    /// The values.
    pub values: [String; 2],
}

impl AgainstReport {
    /// True if the compared requests are equal, the peaks have the same lines, and both runs ended alike.
    pub fn is_equal(&self) -> bool {
        let is_equal = |device: &ComparedDevice| device.parting.is_none() && device.lines.is_empty();
        let ends = self.runs.each_ref().map(|run| &run.failed);
        self.alone.is_empty() && ends[0].is_some() == ends[1].is_some() && self.devices.iter().all(is_equal)
    }

    /// The device that the first sentence is about.
    pub fn focused(&self) -> Option<&ComparedDevice> {
        self.devices.get(self.focus?)
    }
}
