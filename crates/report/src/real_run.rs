//! The report of a real run, as `oomph run` makes it at the end and `oomph explain FOLDER` at any time. The serialised form is the contract of its
//! JSON (docs/schema/README.md).

use serde::{Deserialize, Serialize};
use trace::Bytes;

use crate::check::CheckReport;
use crate::finding::Location;

/// The end of a program that ran on the GPUs of a machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunReport {
    /// The version of oomph that recorded the run.
    pub version: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The end of the program.
    pub end: End,
    /// The optimizer steps of the process that the end is about, else the most of any process.
    pub steps: u32,
    /// The process of a job that stopped first, if no process left an error; `None` if the records do not tell.
    pub stopped_first: Option<StoppedRank>,
    /// True if a process of the program used a GPU through PyTorch and was recorded.
    pub is_recorded: bool,
    /// The largest use of the fullest device; `None` if nothing was allocated.
    pub memory: Option<UsedMemory>,
    /// The kernel's kills for want of host memory; `None` if the kernel does not count them.
    pub host: Option<HostKill>,
    /// The time without an allocation before the end of a program that may have waited.
    pub silence: Option<Silence>,
    /// The out-of-memory errors that the program caught; `None` if it caught none.
    pub caught: Option<CaughtErrors>,
    /// The reasons for which the allocations of a process were not recorded.
    pub unrecorded: Vec<String>,
    /// The missing parts of the recording.
    pub gaps: Vec<String>,
    /// Further remarks for the reader, a sentence each, such as on the job of Slurm.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The remedies that were asked for and changed nothing.
    pub unapplied: Vec<UnappliedRemedy>,
    /// The cause, the figures and the remedies of a run that memory ended, as `oomph check` reports them; `None` for any other end.
    pub out_of_memory: Option<CheckReport>,
    /// The reader's working directory: names of files in `headline` are relative to it.
    #[serde(default)]
    pub folder: String,
}

/// The end of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum End {
    /// The exit status is 0.
    Good,
    /// The program ended by itself with another exit status.
    Status {
        /// The exit status.
        status: i32,
        /// The error that ended the program; `None` if no process recorded one.
        error: Option<RaisedError>,
    },
    /// A signal ended the program.
    Signal {
        /// The number of the signal.
        signal: i32,
    },
    /// No end is recorded: the program runs, or was killed while nobody waited for it.
    #[default]
    Open,
}

/// The error that ended a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RaisedError {
    /// The rank, in a job.
    pub rank: Option<u32>,
    /// The type of the error.
    pub type_name: String,
    /// The line that raised the error.
    pub location: Option<Location>,
}

/// The process of a job that stopped first, without a last record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StoppedRank {
    /// The rank.
    pub rank: u32,
    /// Its completed optimizer steps.
    pub steps: u32,
}

/// The largest use of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UsedMemory {
    /// The rank, in a job.
    pub rank: Option<u32>,
    /// The name of the GPU.
    pub gpu: String,
    /// The memory of the device.
    pub total_bytes: Option<Bytes>,
    /// The most allocated bytes.
    pub allocated_peak_bytes: Bytes,
    /// The most reserved bytes.
    pub reserved_peak_bytes: Bytes,
    /// The memory that was free before the program, less the most reserved bytes.
    pub spare_bytes: Option<Bytes>,
    /// The memory that other processes and contexts used before the program; `None` if it is no more than a context of the program's own.
    pub others_bytes: Option<Bytes>,
}

/// The kernel's kills for want of host memory while the program ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostKill {
    /// The number of killed processes.
    pub processes: u64,
    /// True if they were of the control group of the program; false if of any program on the machine.
    pub is_of_group: bool,
    /// The limit of the control group.
    pub limit_bytes: Option<Bytes>,
    /// The resident memory of the largest process of the program.
    pub largest_process_bytes: Bytes,
}

/// The time before the end in which no process allocated, as ranks wait in a collective for a rank that does not come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Silence {
    /// The time.
    pub seconds: u64,
    /// The last allocations of all ranks.
    pub last: Vec<LastAllocation>,
}

/// The last allocation of some ranks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LastAllocation {
    /// The ranks.
    pub ranks: Vec<u32>,
    /// The step under way, counted from 1.
    pub step: u32,
    /// The line of the program.
    pub location: Option<Location>,
}

/// The out-of-memory errors that a program caught.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CaughtErrors {
    /// Their number.
    pub errors: u64,
    /// The line of the last request.
    pub location: Option<Location>,
}

/// A remedy that was asked for and changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnappliedRemedy {
    /// The name of the remedy.
    pub remedy: String,
    /// The reason, a sentence without a full stop.
    pub reason: String,
}

impl RunReport {
    /// True if the program ended well and caught no out-of-memory error.
    pub fn is_good(&self) -> bool {
        self.end == End::Good && self.caught.is_none()
    }

    /// True if the recording may be of use later.
    pub fn is_of_use(&self) -> bool {
        self.is_recorded && !self.is_good()
    }
}
