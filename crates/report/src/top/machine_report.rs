//! The report as data.

use serde::{Deserialize, Serialize};
use trace::{Bytes, Phase};

/// A machine by now.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TopReport {
    /// oomph's own version.
    pub version: String,
    /// The version of the driver.
    pub driver: Option<String>,
    /// The GPUs, by index.
    pub gpus: Vec<TopGpu>,
    /// The processes: a process on two GPUs comes twice.
    pub processes: Vec<TopProcess>,
    /// Sentences for the reader, the most urgent first.
    pub remarks: Vec<String>,
}

/// A GPU. A figure that the driver does not state is null.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TopGpu {
    /// The number, as `nvidia-smi` counts.
    pub index: u32,
    /// The name of the product.
    pub name: String,
    /// The identity, as `CUDA_VISIBLE_DEVICES` accepts it.
    pub uuid: String,
    /// The memory of the device.
    pub total_bytes: Option<Bytes>,
    /// The memory in use.
    pub used_bytes: Option<Bytes>,
    /// The share of the last sample period in which a kernel ran.
    pub utilization_percent: Option<u32>,
    /// The temperature of the chip.
    pub temperature_celsius: Option<u32>,
    /// The power.
    pub power_watts: Option<u32>,
    /// The MIG devices; empty if MIG is off.
    pub mig: Vec<TopMig>,
    /// The driver's answer in place of figures.
    pub problem: Option<String>,
}

/// A MIG device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TopMig {
    /// The profile, e.g. `MIG 1g.10gb`.
    pub name: Option<String>,
    /// The GPU instance.
    pub gpu_instance: Option<u32>,
    /// The memory of the MIG device.
    pub total_bytes: Option<Bytes>,
    /// The memory in use.
    pub used_bytes: Option<Bytes>,
}

/// A process on a GPU.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TopProcess {
    /// The GPU; null if the driver lists the process on none, as in some containers and under WSL.
    pub gpu: Option<u32>,
    /// The GPU instance, on a GPU with MIG.
    pub gpu_instance: Option<u32>,
    /// The process.
    pub pid: u32,
    /// The use of the GPU.
    pub kind: TopUse,
    /// The user; null for a process that is not visible from here.
    pub user: Option<String>,
    /// The command line, or the program's path as the driver states it; null if both are unknown.
    pub command: Option<String>,
    /// The container engine and the start of the container's name.
    pub container: Option<String>,
    /// The memory on the GPU, PyTorch's or not.
    pub used_bytes: Option<Bytes>,
    /// The share of the last sample period in which a kernel of the process ran.
    pub utilization_percent: Option<u32>,
    /// The processor time since the last look, in percent of a core; null at the first look.
    pub cpu_percent: Option<f64>,
    /// The view of PyTorch's allocator, if `oomph run` records the process.
    pub recorded: Option<TopRecorded>,
}

/// The use that a process makes of a GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TopUse {
    /// CUDA.
    #[default]
    Compute,
    /// OpenGL, Vulkan, or a display.
    Graphics,
    /// Both.
    Both,
}

/// A process under `oomph run`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TopRecorded {
    /// The rank in a job, else 0.
    pub rank: u32,
    /// The device, in PyTorch's numbering within the process.
    pub device: u32,
    /// The allocated memory.
    pub allocated_bytes: Bytes,
    /// The reserved memory.
    pub reserved_bytes: Bytes,
    /// The reserved memory that is not allocated.
    pub cached_bytes: Bytes,
    /// The part of it in segments that have other blocks in use, after the last recorded step: `empty_cache` does not release it.
    pub inactive_split_bytes: Option<Bytes>,
    /// The most reserved so far.
    pub reserved_peak_bytes: Bytes,
    /// The phase of the last allocation.
    pub phase: Option<Phase>,
    /// The completed optimizer steps.
    pub steps: u32,
    /// The time of an optimizer step.
    pub step_seconds: Option<f64>,
    /// The time since the last recorded step.
    pub since_step_seconds: Option<f64>,
    /// The share of a step's time in which the program waits for its `DataLoader`.
    pub loader_wait_share: Option<f64>,
    /// The growth of the allocated memory in a step; null without steady growth.
    pub growth_per_step_bytes: Option<Bytes>,
    /// The number of further steps, of which the last runs out of memory.
    pub steps_to_error: Option<u64>,
    /// Their time.
    pub seconds_to_error: Option<f64>,
}
