//! What a text can hold, as values.

use serde::{Serialize, Serializer};

use crate::bytes::Bytes;
use crate::stack::Frame;

/// A size as a text states it: rounded to so many digits, so it stands for all sizes from `lowest` to `highest`.
///
/// In JSON the nearest whole number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StatedBytes {
    /// The size as written.
    pub nearest: Bytes,
    /// The smallest size that is printed so.
    pub lowest: Bytes,
    /// The largest size that is printed so.
    pub highest: Bytes,
}

impl Serialize for StatedBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.nearest.serialize(serializer)
    }
}

/// Whose device an error is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Framework {
    /// PyTorch on NVIDIA.
    #[default]
    Cuda,
    /// PyTorch on ROCm.
    Hip,
    /// PyTorch on Intel GPUs.
    Xpu,
    /// PyTorch on Apple GPUs.
    Mps,
    /// PyTorch on Ascend.
    Npu,
    /// The memory of the host.
    Host,
}

/// What ran out, by where the error comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OomKind {
    /// PyTorch's caching allocator.
    #[default]
    Allocator,
    /// PyTorch's allocator refused a request beyond the fraction it was given, without asking the device (2.12 and later).
    Rejected,
    /// The `cudaMallocAsync` backend.
    AsyncAllocator,
    /// A CUDA call outside the allocator: `CUDA error: out of memory`.
    DeviceCall,
    /// A CUDA context could not be made.
    Context,
    /// `CUBLAS_STATUS_ALLOC_FAILED`, and cuBLAS handles that could not be made.
    Cublas,
    /// cuDNN could not get memory, or found no engine that fits.
    Cudnn,
    /// cuFFT, cuSOLVER, cuSPARSE.
    MathLibrary,
    /// NCCL could not get memory.
    Nccl,
    /// Memory of the host: an allocation failed.
    HostAllocation,
    /// Shared memory of the host: a bus error in a DataLoader's worker, `/dev/shm` full.
    SharedMemory,
    /// The kernel killed a process.
    Killed,
}

/// Another process that an error names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct OtherProcess {
    /// Its process id; a container's error names the host's.
    pub pid: u32,
    /// What it holds of the device; `None` where the driver does not say.
    pub bytes: Option<StatedBytes>,
}

/// An out-of-memory error as a text states it. What it does not state is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StatedOom {
    /// Whose device.
    pub framework: Framework,
    /// What ran out.
    pub kind: OomKind,
    /// The line of the text on which it starts, counted from 1.
    pub line: u32,
    /// The rank that a prefix of the line names.
    pub rank: Option<u32>,
    /// The device, as PyTorch numbers it.
    pub device_index: Option<u32>,
    /// What was asked for. PyTorch states what it would have had to reserve: 2 MiB for up to 1 MiB, 20 MiB for up to 10 MiB.
    pub requested_bytes: Option<StatedBytes>,
    /// The device's memory.
    pub total_bytes: Option<StatedBytes>,
    /// What was free on it.
    pub free_bytes: Option<StatedBytes>,
    /// In the program's hands.
    pub allocated_bytes: Option<StatedBytes>,
    /// Held by PyTorch's allocator in all.
    pub reserved_bytes: Option<StatedBytes>,
    /// Held by PyTorch's allocator and not in the program's hands.
    pub reserved_unallocated_bytes: Option<StatedBytes>,
    /// In private pools, as messages since 2.4 state it.
    pub private_pools_bytes: Option<StatedBytes>,
    /// What this process uses of the device, its context included.
    pub process_bytes: Option<StatedBytes>,
    /// What this process may use, where a fraction was set.
    pub allowed_bytes: Option<StatedBytes>,
    /// Others that use the device.
    pub other_processes: Vec<OtherProcess>,
    /// The message in one line, without prefixes and wrapping.
    pub message: String,
    /// The traceback that led to it, innermost frame first; empty where the text has none.
    #[serde(skip)]
    pub traceback: Vec<Frame>,
}
