//! What `run.json` says: the launcher's side of a run.

use serde::{Deserialize, Serialize};

/// `run.json`: how the program was started, and how it ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// The version of this file's format: [`Launch::FORMAT`].
    pub format: u32,
    /// The version of oomph.
    pub oomph: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The GPU that was shown.
    pub gpu_name: String,
    /// Its memory, as `cudaMemGetInfo` states the total.
    pub device_total_bytes: u64,
    /// What a CUDA context takes of it.
    pub device_context_bytes: u64,
    /// How many of it were shown.
    pub devices: u32,
    /// Whether requests never failed for want of memory.
    pub unlimited: bool,
    /// The optimizer steps after which the agent ends the program; 0 = none.
    pub steps: u32,
    /// The job of which single ranks ran alone; `None` where every rank was a process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<Job>,
    /// How it ended; `None` while it runs, and where oomph itself was killed.
    pub ended: Option<Ended>,
}

impl Launch {
    /// The format that this version writes and reads.
    pub const FORMAT: u32 = 1;
}

/// A job of more ranks than ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// How many ranks it has.
    pub world_size: u32,
    /// How many of them a machine has.
    pub local_world_size: u32,
    /// Those that ran, each in a process that was alone.
    pub ranks: Vec<u32>,
}

/// How a program ended, as its parent saw it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// Its exit status; `None` where a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// From start to end.
    pub seconds: f64,
    /// Whether oomph ended it because its time was up.
    pub timed_out: bool,
}
