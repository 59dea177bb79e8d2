//! The artifacts of a text, as values.

use serde::{Deserialize, Serialize};

use super::application::NamedApplication;
use super::clue::Clue;
use super::device_table::DeviceTable;
use super::look_alike::LookAlike;
use super::nvidia_smi::NvidiaSmi;
use super::printed::PrintedMemory;
use super::series::Series;
use super::stated::StatedBytes;
use super::stats::MemoryStats;
use super::summary::MemorySummary;
use crate::bytes::Bytes;
use crate::stack::Frame;

/// An error or a table in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "errors are most of what a text holds, and they are few")]
pub enum Artifact {
    /// An out-of-memory error of PyTorch, of the layers below, or of another framework.
    Oom(StatedOom),
    /// PyTorch's log line about a request refused by the device, from which it may have recovered (2.13 and later).
    Refusal(Refusal),
    /// `torch.cuda.memory_summary()`.
    MemorySummary(MemorySummary),
    /// `torch.cuda.memory_stats()`.
    MemoryStats(MemoryStats),
    /// `nvidia-smi`, in any of its forms.
    NvidiaSmi(NvidiaSmi),
    /// A program's own table of a device.
    DeviceTable(DeviceTable),
    /// Figures of the allocator that a text without an error prints.
    Printed(PrintedMemory),
    /// An error that looks similar, but is not about this memory.
    LookAlike(LookAlike),
    /// A program that the text names.
    Application(NamedApplication),
    /// The rank that torchrun names as the root cause, in its footer.
    RootRank(u32),
}

impl Artifact {
    /// The line of the text on which the artifact starts, counted from 1.
    pub fn first_line(&self) -> u32 {
        match self {
            Artifact::Oom(oom) => oom.line,
            Artifact::Refusal(refusal) => refusal.line,
            Artifact::MemorySummary(summary) => summary.line,
            Artifact::MemoryStats(stats) => stats.line,
            Artifact::NvidiaSmi(smi) => smi.line,
            Artifact::DeviceTable(table) => table.line,
            Artifact::Printed(printed) => printed.line,
            Artifact::LookAlike(look_alike) => look_alike.line,
            Artifact::Application(named) => named.line,
            Artifact::RootRank(_) => u32::MAX,
        }
    }
}

/// A request of PyTorch's allocator that the device refused, from PyTorch's log line (2.13 and later; sizes are exact).
///
/// Before an error there are two such lines; a single line was followed by success after the cache was released.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The line of the text, counted from 1.
    pub line: u32,
    /// The rank in a prefix of the line.
    pub rank: Option<u32>,
    /// The device, as PyTorch numbers it.
    pub device_index: Option<u32>,
    /// The size requested from the device.
    pub requested_bytes: Option<Bytes>,
    /// The free memory of the device.
    pub free_bytes: Option<Bytes>,
    /// The device's memory.
    pub total_bytes: Option<Bytes>,
}

/// The program or library that wrote an error: PyTorch by its device, others by their name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// vLLM's own checks, before PyTorch allocates.
    Vllm,
    /// SGLang's own checks.
    Sglang,
    /// TensorRT-LLM.
    TensorRtLlm,
    /// TensorRT.
    TensorRt,
    /// llama.cpp, and other programs on ggml.
    LlamaCpp,
    /// Ollama.
    Ollama,
    /// TensorFlow.
    TensorFlow,
    /// JAX and XLA.
    Jax,
    /// PaddlePaddle.
    Paddle,
    /// CuPy.
    CuPy,
    /// ONNX Runtime.
    OnnxRuntime,
    /// Numba.
    Numba,
    /// RAPIDS (RMM, cuDF).
    Rapids,
    /// CUDA.jl.
    Julia,
    /// MXNet.
    MxNet,
    /// Ray's monitor of the host's memory.
    Ray,
    /// The driver, or a CUDA program without a known name.
    Nvidia,
}

impl Framework {
    /// The name in sentences; PyTorch's for all of its devices.
    pub fn name(self) -> &'static str {
        match self {
            Framework::Cuda | Framework::Hip | Framework::Xpu | Framework::Mps | Framework::Npu => "PyTorch",
            Framework::Host => "the host",
            Framework::Vllm => "vLLM",
            Framework::Sglang => "SGLang",
            Framework::TensorRtLlm => "TensorRT-LLM",
            Framework::TensorRt => "TensorRT",
            Framework::LlamaCpp => "llama.cpp",
            Framework::Ollama => "Ollama",
            Framework::TensorFlow => "TensorFlow",
            Framework::Jax => "JAX",
            Framework::Paddle => "PaddlePaddle",
            Framework::CuPy => "CuPy",
            Framework::OnnxRuntime => "ONNX Runtime",
            Framework::Numba => "Numba",
            Framework::Rapids => "RAPIDS",
            Framework::Julia => "CUDA.jl",
            Framework::MxNet => "MXNet",
            Framework::Ray => "Ray",
            Framework::Nvidia => "the driver",
        }
    }
}

/// The memory that ran out, by the origin of the error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OomKind {
    /// PyTorch's caching allocator.
    #[default]
    Allocator,
    /// PyTorch's allocator rejected a request beyond its memory fraction, without asking the device (2.12 and later).
    Rejected,
    /// The `cudaMallocAsync` backend.
    AsyncAllocator,
    /// A CUDA call outside the allocator: `CUDA error: out of memory`.
    DeviceCall,
    /// Creating a CUDA context failed.
    Context,
    /// `CUBLAS_STATUS_ALLOC_FAILED`, or creating a cuBLAS handle failed.
    Cublas,
    /// cuDNN got no memory, or found no engine that fits.
    Cudnn,
    /// cuFFT, cuSOLVER, cuSPARSE and similar libraries.
    MathLibrary,
    /// NCCL got no memory.
    Nccl,
    /// Another framework's allocator, or its check before an allocation.
    Foreign,
    /// Host memory: an allocation failed.
    HostAllocation,
    /// Shared host memory: a bus error in a DataLoader worker, or a full `/dev/shm`.
    SharedMemory,
    /// The kernel's OOM killer ended a process, and the text says so (kernel log, cgroup, slurm, Kubernetes).
    Killed,
    /// A process ended from outside for a reason that the text does not state: the shell's `Killed`, exit status 137 or
    /// -9, SIGKILL, a lost DataLoader worker. The OOM killer is the usual reason, but not the only one.
    Ended,
}

/// Another process named in an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OtherProcess {
    /// The process id; in a container the host's id.
    pub pid: u32,
    /// The device memory of the process; `None` if the driver does not report it.
    pub bytes: Option<StatedBytes>,
}

/// Errors of one kind, device, rank and source line, of which the last stands for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OomGroup {
    /// The number of errors; printings of one error count once.
    pub errors: u64,
    /// The line of the text on which the first error starts, counted from 1.
    pub first_line: u32,
}

/// An out-of-memory error as stated in a text. Missing statements are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatedOom {
    /// The device.
    pub framework: Framework,
    /// The memory that ran out.
    pub kind: OomKind,
    /// The line of the text on which the error starts, counted from 1.
    pub line: u32,
    /// The rank in a prefix of the line.
    pub rank: Option<u32>,
    /// The process in the message or a prefix: the process of the error, or the process that was ended.
    pub pid: Option<u32>,
    /// The number of times that the text prints the error: loggers and re-raising repeat it.
    // Note [One error printed twice]
    pub occurrences: u32,
    /// The line on which the last printing starts.
    pub last_line: u32,
    /// The group of which this is the last error, if the text has very many; else left out.
    // Note [Many errors]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<OomGroup>,
    /// The device, as PyTorch numbers it.
    pub device_index: Option<u32>,
    /// The requested size. PyTorch states the size to reserve: 2 MiB for up to 1 MiB, 20 MiB for up to 10 MiB.
    pub requested_bytes: Option<StatedBytes>,
    /// The device's memory.
    pub total_bytes: Option<StatedBytes>,
    /// The free memory of the device.
    pub free_bytes: Option<StatedBytes>,
    /// The allocated memory; in messages since PyTorch 2.4 with `private_pools_bytes`.
    pub allocated_bytes: Option<StatedBytes>,
    /// The memory reserved by PyTorch's allocator.
    pub reserved_bytes: Option<StatedBytes>,
    /// The memory reserved by PyTorch's allocator, but not allocated.
    pub reserved_unallocated_bytes: Option<StatedBytes>,
    /// Called "allocated in private pools" in messages since 2.4; in fact the free memory of these pools.
    pub private_pools_bytes: Option<StatedBytes>,
    /// The device memory of this process, including its context.
    pub process_bytes: Option<StatedBytes>,
    /// The limit of this process, if a fraction was set.
    pub allowed_bytes: Option<StatedBytes>,
    /// MPS: memory of other users of Metal in this process.
    pub other_allocations_bytes: Option<StatedBytes>,
    /// The address space of an expandable segment, if the request exceeds it (2.15).
    pub segment_reserve_bytes: Option<StatedBytes>,
    /// Other processes that use the device. In a container the process itself may be among them, under the host's id.
    pub other_processes: Vec<OtherProcess>,
    /// The exception's class as printed, e.g. `torch.OutOfMemoryError`.
    pub exception: Option<String>,
    /// The message in one line, without prefixes and wrapping.
    pub message: String,
    /// The memory that the program logged before the error, if the log shows that it grew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<Series>,
    /// Set if the figures are a guess: a screenshot was read, with `l` for `1` or `O` for `0`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_guess: bool,
    /// Set if Python's words between two tracebacks say that another exception was being handled.
    pub while_handling: bool,
    /// The traceback of the error, innermost frame first; empty if the text has none.
    #[serde(skip)]
    pub traceback: Vec<Frame>,
    /// The lines beside the error that say what the program was doing, one of each kind.
    // Note [Clues]
    #[serde(skip)]
    pub clues: Vec<Clue>,
}

impl StatedOom {
    /// The number of errors in the group.
    pub fn count(&self) -> u64 {
        self.group.map_or(1, |group| group.errors)
    }

    /// The reserved memory, stated or as the sum of the stated parts.
    ///
    /// Since 2.1 messages state "allocated" and "reserved but unallocated"; free blocks of private pools, which 2.4
    /// counts as allocated, are not in the second part, so the sum is right in every version. Up to 1.3 the second part
    /// is "cached".
    pub fn reserved(&self) -> Option<StatedBytes> {
        self.reserved_bytes.or_else(|| Some(self.allocated_bytes? + self.reserved_unallocated_bytes?))
    }

    /// The reserved memory that is not allocated, stated or as a difference; includes free blocks of private pools.
    pub fn unallocated(&self) -> Option<StatedBytes> {
        let in_pools = self.private_pools_bytes.unwrap_or_default();
        let stated = self.reserved_unallocated_bytes.map(|bytes| bytes + in_pools);
        stated.or_else(|| Some(self.reserved_bytes? - self.allocated_bytes?))
    }

    /// The allocated memory: "allocated" less the free memory of private pools.
    pub fn allocated(&self) -> Option<StatedBytes> {
        Some(self.allocated_bytes? - self.private_pools_bytes.unwrap_or_default())
    }
}
