//! What a text can hold, as values.

use serde::Serialize;

use super::look_alike::LookAlike;
use super::nvidia_smi::NvidiaSmi;
use super::stated::StatedBytes;
use super::stats::MemoryStats;
use super::summary::MemorySummary;
use crate::bytes::Bytes;
use crate::stack::Frame;

/// One thing that a text holds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "errors are most of what a text holds, and they are few")]
pub enum Artifact {
    /// An error that says that memory ran out, of PyTorch's or of what it stands on.
    Oom(StatedOom),
    /// PyTorch's log line about a refusal of the device that it may have recovered from (2.13 and later).
    Refusal(Refusal),
    /// `torch.cuda.memory_summary()`.
    MemorySummary(MemorySummary),
    /// `torch.cuda.memory_stats()`.
    MemoryStats(MemoryStats),
    /// `nvidia-smi`, in any of its forms.
    NvidiaSmi(NvidiaSmi),
    /// What looks like such an error and is none of PyTorch's.
    LookAlike(LookAlike),
}

impl Artifact {
    /// The line of the text on which it starts, counted from 1.
    pub fn line(&self) -> u32 {
        match self {
            Artifact::Oom(oom) => oom.line,
            Artifact::Refusal(refusal) => refusal.line,
            Artifact::MemorySummary(summary) => summary.line,
            Artifact::MemoryStats(stats) => stats.line,
            Artifact::NvidiaSmi(smi) => smi.line,
            Artifact::LookAlike(look_alike) => look_alike.line,
        }
    }
}

/// A request that the device refused to PyTorch's allocator, by the line it logs (2.13 and later; sizes are exact).
///
/// Before an error there are two of them; one alone was followed by success once the cache was given back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// The line of the text, counted from 1.
    pub line: u32,
    /// The rank that a prefix of the line names.
    pub rank: Option<u32>,
    /// The device, as PyTorch numbers it.
    pub device_index: Option<u32>,
    /// What was asked of the device.
    pub requested_bytes: Option<Bytes>,
    /// What was free on it.
    pub free_bytes: Option<Bytes>,
    /// The device's memory.
    pub total_bytes: Option<Bytes>,
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
    /// cuFFT, cuSOLVER, cuSPARSE and their kind.
    MathLibrary,
    /// NCCL could not get memory.
    Nccl,
    /// Memory of the host: an allocation failed.
    HostAllocation,
    /// Shared memory of the host: a bus error in a DataLoader's worker, `/dev/shm` full.
    SharedMemory,
    /// The kernel's OOM killer ended a process, and the text says so (kernel log, cgroup, slurm, Kubernetes).
    Killed,
    /// A process ended from outside and the text does not say why: the shell's `Killed`, exit status 137 or -9, SIGKILL,
    /// a DataLoader's worker that is gone. The OOM killer is the usual reason, not the only one.
    Ended,
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
    /// The process that the message or a prefix names: whose error it is, or which process was ended.
    pub pid: Option<u32>,
    /// How many times the text prints it: loggers and re-raising repeat one error (Note [One error printed twice]).
    pub occurrences: u32,
    /// The device, as PyTorch numbers it.
    pub device_index: Option<u32>,
    /// What was asked for. PyTorch states what it would have had to reserve: 2 MiB for up to 1 MiB, 20 MiB for up to 10 MiB.
    pub requested_bytes: Option<StatedBytes>,
    /// The device's memory.
    pub total_bytes: Option<StatedBytes>,
    /// What was free on it.
    pub free_bytes: Option<StatedBytes>,
    /// In the program's hands; since 2.4 with [`private_pools_bytes`](StatedOom::private_pools_bytes) in it.
    pub allocated_bytes: Option<StatedBytes>,
    /// Held by PyTorch's allocator in all.
    pub reserved_bytes: Option<StatedBytes>,
    /// Held by PyTorch's allocator and not in the program's hands.
    pub reserved_unallocated_bytes: Option<StatedBytes>,
    /// Called "allocated in private pools" by messages since 2.4; it is what lies free in them.
    pub private_pools_bytes: Option<StatedBytes>,
    /// What this process uses of the device, its context included.
    pub process_bytes: Option<StatedBytes>,
    /// What this process may use, where a fraction was set.
    pub allowed_bytes: Option<StatedBytes>,
    /// MPS: what other users of Metal in this process hold.
    pub other_allocations_bytes: Option<StatedBytes>,
    /// The size of an expandable segment's address space, where the request is beyond it (2.15).
    pub segment_reserve_bytes: Option<StatedBytes>,
    /// Others that use the device. In a container the process itself may be among them, under the host's id for it.
    pub other_processes: Vec<OtherProcess>,
    /// The exception's class as printed, e.g. `torch.OutOfMemoryError`.
    pub exception: Option<String>,
    /// The message in one line, without prefixes and wrapping.
    pub message: String,
    /// Whether it was raised while another exception was handled, by Python's words between the two tracebacks.
    pub while_handling: bool,
    /// The traceback that led to it, innermost frame first; empty where the text has none.
    #[serde(skip)]
    pub traceback: Vec<Frame>,
}

impl StatedOom {
    /// What the allocator held in all, stated or as the sum of the parts that are stated.
    ///
    /// Since 2.1 messages state "allocated" and "reserved but unallocated"; free blocks of private pools, which 2.4 counts to
    /// the first, are left out of the second, so the sum is right in every version. Up to 1.3 the second part is "cached".
    pub fn reserved(&self) -> Option<StatedBytes> {
        self.reserved_bytes.or_else(|| Some(self.allocated_bytes? + self.reserved_unallocated_bytes?))
    }

    /// What the allocator held and the program did not, stated or as a difference; free blocks of private pools included.
    pub fn unallocated(&self) -> Option<StatedBytes> {
        let in_pools = self.private_pools_bytes.unwrap_or_default();
        let stated = self.reserved_unallocated_bytes.map(|bytes| bytes + in_pools);
        stated.or_else(|| Some(self.reserved_bytes? - self.allocated_bytes?))
    }

    /// What the program held: "allocated" without what lies free in private pools.
    pub fn allocated(&self) -> Option<StatedBytes> {
        Some(self.allocated_bytes? - self.private_pools_bytes.unwrap_or_default())
    }
}
