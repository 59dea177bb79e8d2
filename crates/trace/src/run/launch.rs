//! The launcher's record of a run, `run.json`.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::effects::Effects;
use crate::Bytes;

/// The start and the end of the program, as in `run.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// The version of the format: [`Launch::FORMAT`].
    pub format: u32,
    /// The version of oomph.
    pub oomph: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The name of the phantom GPU.
    pub gpu_name: String,
    /// The total memory of the GPU, as in `cudaMemGetInfo`.
    pub device_total_bytes: u64,
    /// The memory that other processes use of each GPU, as the user stated it; 0 in runs of versions without the key.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub device_others_bytes: u64,
    /// The memory of a CUDA context.
    pub device_context_bytes: u64,
    /// The number of visible GPUs; 0 for a real run, whose processes state theirs.
    pub devices: u32,
    /// Set if requests never ran out of memory.
    pub unlimited: bool,
    /// The number of optimizer steps after which the agent ends the program; 0 = no limit.
    pub steps: u32,
    /// The job, if only single ranks of it ran; `None` if every rank was a process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<Job>,
    /// The job of Slurm that the program ran in (`SLURM_JOB_ID`); `None` outside of a job, and in runs of versions without the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slurm_job: Option<NonZeroU32>,
    /// The end of the program; `None` while it runs, and if oomph itself was killed.
    pub ended: Option<Ended>,
    /// The memory of the host; `None` in dry runs, and while the program runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<Box<HostRecord>>,
    /// The effects on files and other machines; `None` while the program runs, and in runs of versions without the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effects: Option<Box<Effects>>,
}

impl Launch {
    /// The version of the format in this version of oomph.
    pub const FORMAT: u32 = 1;

    /// True for a run on the GPUs of the machine, which the processes describe.
    pub fn is_real(&self) -> bool {
        self.devices == 0
    }

    /// Returns the device's memory less what other processes use.
    pub fn available_bytes(&self) -> Bytes {
        Bytes(self.device_total_bytes) - Bytes(self.device_others_bytes)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(bytes: &u64) -> bool {
    *bytes == 0
}

/// A job with more ranks than were run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Job {
    /// The number of ranks.
    pub world_size: u32,
    /// The number of ranks per machine.
    pub local_world_size: u32,
    /// The ranks that ran, each in a process of its own.
    pub ranks: Vec<u32>,
}

/// The host at the end of a real run, and its memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostRecord {
    /// The processes that the kernel killed for want of memory during the run; `None` if the kernel does not say.
    pub killed_processes: Option<u64>,
    /// True if these were of the control group of the program; false if of any program on the machine.
    pub is_of_group: bool,
    /// The limit of the control group; `None` without a limit.
    pub limit_bytes: Option<u64>,
    /// The resident memory of the largest process of the program.
    pub largest_process_bytes: u64,
    /// The wall-clock time of the end, in microseconds since 1970.
    pub ended_micros: u64,
}

/// The reason for which oomph ended a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StopCause {
    /// Ctrl-C: SIGINT to oomph.
    Interrupt,
    /// SIGTERM to oomph.
    Terminate,
    /// SIGHUP to oomph: its terminal was closed.
    Hangup,
    /// `--timeout`.
    Timeout,
}

impl Ended {
    /// The reason for which oomph ended the program; runs of earlier versions state a time limit alone.
    pub fn stop_cause(&self) -> Option<StopCause> {
        self.stopped_by.or(self.timed_out.then_some(StopCause::Timeout))
    }

    /// The reason if the user asked for the end.
    pub fn user_stop(&self) -> Option<StopCause> {
        self.stopped_by.filter(|cause| *cause != StopCause::Timeout)
    }
}

/// The end of a program, as its parent process saw it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// The exit status; `None` after a signal.
    pub exit_code: Option<i32>,
    /// The signal that ended the program.
    pub signal: Option<i32>,
    /// The time from start to end, or to the moment at which oomph asked for the end.
    pub seconds: f64,
    /// Set if oomph ended the program at its time limit.
    pub timed_out: bool,
    /// The reason for which oomph ended the program; `None` if the program ended by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<StopCause>,
    /// Set if the program went on after its first process had ended, as a daemon does.
    #[serde(default)]
    pub in_background: bool,
}
