//! The GPUs of a machine and their processes at one instant, as NVIDIA's tools state them.
//!
//! A figure that a driver does not state is `None`: the memory of a GPU that shares the host's (GB10), the memory of a process under WSL,
//! the utilization of a MIG device.

mod element;
mod error;
mod smi;

pub use self::error::SmiError;
pub use self::smi::read_smi;
use crate::bytes::Bytes;

/// A machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineSample {
    /// The version of the driver.
    pub driver: Option<String>,
    /// The GPUs, by index.
    pub gpus: Vec<GpuSample>,
}

/// A GPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GpuSample {
    /// The number of the GPU, as `nvidia-smi` counts.
    pub index: u32,
    /// The name of the product.
    pub name: String,
    /// The identity, as `CUDA_VISIBLE_DEVICES` accepts it.
    pub uuid: String,
    /// The memory of the device.
    pub total: Option<Bytes>,
    /// The memory in use; the driver's own reserve is not counted.
    pub used: Option<Bytes>,
    /// The share of the last sample period in which a kernel ran.
    pub utilization_percent: Option<u32>,
    /// The temperature of the chip.
    pub temperature_celsius: Option<u32>,
    /// The power.
    pub power_watts: Option<u32>,
    /// The MIG devices; empty if MIG is off.
    pub mig: Vec<MigSample>,
    /// The processes, in the driver's order.
    pub processes: Vec<GpuProcess>,
    /// The driver's answer in place of figures, e.g. that the GPU is lost.
    pub problem: Option<String>,
}

/// A MIG device: a part of a GPU with memory of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MigSample {
    /// The name with the profile, e.g. `MIG 1g.10gb`, where the driver states it.
    pub name: Option<String>,
    /// The GPU instance, by which the processes of the GPU name the MIG device.
    pub gpu_instance: Option<u32>,
    /// The memory of the MIG device.
    pub total: Option<Bytes>,
    /// The memory in use.
    pub used: Option<Bytes>,
}

/// A process that uses a GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuProcess {
    /// The process, as the host counts: in a container the number may be unknown or another's.
    pub pid: u32,
    /// The use of the GPU.
    pub kind: GpuUse,
    /// The path of the program, where the driver states it.
    pub program: Option<String>,
    /// The memory that the process uses on the GPU.
    pub used: Option<Bytes>,
    /// The share of the last sample period in which a kernel of the process ran.
    pub utilization_percent: Option<u32>,
    /// The GPU instance, on a GPU with MIG.
    pub gpu_instance: Option<u32>,
}

/// The use that a process makes of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GpuUse {
    /// CUDA.
    Compute,
    /// OpenGL, Vulkan, or a display.
    Graphics,
    /// Both.
    Both,
}

/// A process, as its host describes it (proc(5)).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostProcess {
    /// The user.
    pub user: Option<String>,
    /// The words of the command line; empty for a process without one.
    pub command: Vec<String>,
    /// The start, in ticks since the start of the machine: it tells a process from a later one of the same number.
    pub started_ticks: u64,
    /// The processor time so far.
    pub cpu_millis: u64,
    /// The container, where its name says so: `docker 3f2a9c1b77aa`.
    pub container: Option<String>,
    /// `CUDA_VISIBLE_DEVICES`, if the environment is readable and has it.
    pub visible_devices: Option<String>,
}
