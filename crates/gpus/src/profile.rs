//! The figures of one GPU model, with their sources.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize, Serializer};
use trace::Bytes;
use wire::profile;

/// The features of the hardware, as NVIDIA numbers them; `8.9` is Ada.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComputeCapability {
    /// The architecture's generation.
    pub major: u32,
    /// The variant of the architecture.
    pub minor: u32,
}

impl fmt::Display for ComputeCapability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl Serialize for ComputeCapability {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The origin of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Provenance {
    /// Read on that model for this project.
    Measured,
    /// Stated by the maker, or printed by a published program run on that model.
    Published,
    /// Computed by the rule that the source names.
    Estimated,
    /// Stated by the user for this invocation.
    Given,
}

/// A figure of a profile. Its key is the same in the table and in the text for the phantom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// [`Profile::total_bytes`].
    TotalBytes,
    /// [`Profile::context_bytes`].
    ContextBytes,
    /// [`Profile::compute_capability`].
    ComputeCapability,
    /// [`Profile::multiprocessors`].
    Multiprocessors,
    /// [`Profile::l2_bytes`].
    L2Bytes,
    /// [`Profile::shared_memory_per_block_bytes`].
    SharedMemoryPerBlockBytes,
    /// [`Profile::shared_memory_per_block_optin_bytes`].
    SharedMemoryPerBlockOptinBytes,
    /// [`Profile::shared_memory_per_multiprocessor_bytes`].
    SharedMemoryPerMultiprocessorBytes,
    /// [`Profile::reserved_shared_memory_per_block_bytes`].
    ReservedSharedMemoryPerBlockBytes,
    /// [`Profile::registers_per_multiprocessor`].
    RegistersPerMultiprocessor,
    /// [`Profile::threads_per_multiprocessor`].
    ThreadsPerMultiprocessor,
    /// [`Profile::blocks_per_multiprocessor`].
    BlocksPerMultiprocessor,
    /// [`Profile::clock_khz`].
    ClockKhz,
    /// [`Profile::memory_clock_khz`].
    MemoryClockKhz,
    /// [`Profile::memory_bus_bits`].
    MemoryBusBits,
}

impl Field {
    /// Every field, in the order in which they are written.
    pub const ALL: [Field; 15] = [
        Field::TotalBytes,
        Field::ContextBytes,
        Field::ComputeCapability,
        Field::Multiprocessors,
        Field::L2Bytes,
        Field::SharedMemoryPerBlockBytes,
        Field::SharedMemoryPerBlockOptinBytes,
        Field::SharedMemoryPerMultiprocessorBytes,
        Field::ReservedSharedMemoryPerBlockBytes,
        Field::RegistersPerMultiprocessor,
        Field::ThreadsPerMultiprocessor,
        Field::BlocksPerMultiprocessor,
        Field::ClockKhz,
        Field::MemoryClockKhz,
        Field::MemoryBusBits,
    ];

    /// The name of the field in `gpus.toml` and in `OOMPH_DEVICE`.
    pub const fn key(self) -> &'static str {
        match self {
            Field::TotalBytes => profile::TOTAL_BYTES,
            Field::ContextBytes => profile::CONTEXT_BYTES,
            Field::ComputeCapability => profile::COMPUTE_CAPABILITY,
            Field::Multiprocessors => profile::MULTIPROCESSORS,
            Field::L2Bytes => profile::L2_BYTES,
            Field::SharedMemoryPerBlockBytes => profile::SHARED_MEMORY_PER_BLOCK_BYTES,
            Field::SharedMemoryPerBlockOptinBytes => profile::SHARED_MEMORY_PER_BLOCK_OPTIN_BYTES,
            Field::SharedMemoryPerMultiprocessorBytes => profile::SHARED_MEMORY_PER_MULTIPROCESSOR_BYTES,
            Field::ReservedSharedMemoryPerBlockBytes => profile::RESERVED_SHARED_MEMORY_PER_BLOCK_BYTES,
            Field::RegistersPerMultiprocessor => profile::REGISTERS_PER_MULTIPROCESSOR,
            Field::ThreadsPerMultiprocessor => profile::THREADS_PER_MULTIPROCESSOR,
            Field::BlocksPerMultiprocessor => profile::BLOCKS_PER_MULTIPROCESSOR,
            Field::ClockKhz => profile::CLOCK_KHZ,
            Field::MemoryClockKhz => profile::MEMORY_CLOCK_KHZ,
            Field::MemoryBusBits => profile::MEMORY_BUS_BITS,
        }
    }
}

/// A provenance and the text that names the source.
pub(crate) type FigureSource = (Provenance, String);

/// The kind of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GpuKind {
    /// A whole GPU.
    #[default]
    Card,
    /// A MIG slice of a GPU.
    Slice,
    /// A GPU that shares the memory of the CPU.
    Integrated,
}

/// The figures of one GPU model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Profile {
    /// The name of the model, unique in the table.
    pub name: String,
    /// Whole GPU, slice or integrated.
    #[serde(skip)]
    pub kind: GpuKind,
    /// `cudaDeviceProp::name`. Differs from `name` for two models with the same name in CUDA.
    #[serde(skip)]
    pub cuda_name: String,
    /// Other names of the model.
    pub aliases: Vec<String>,
    /// Device memory as `cudaDeviceProp::totalGlobalMem` states it.
    pub total_bytes: Bytes,
    /// Memory of one process outside PyTorch's allocator: CUDA context, loaded kernels, library handles; without NCCL's
    /// buffers.
    pub context_bytes: Bytes,
    /// The compute capability, e.g. `8.9`.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub compute_capability: ComputeCapability,
    /// Number of streaming multiprocessors.
    pub multiprocessors: u32,
    /// L2 cache.
    pub l2_bytes: Bytes,
    /// Shared memory per block without opt-in.
    pub shared_memory_per_block_bytes: Bytes,
    /// Shared memory per block with opt-in.
    pub shared_memory_per_block_optin_bytes: Bytes,
    /// Shared memory per multiprocessor.
    pub shared_memory_per_multiprocessor_bytes: Bytes,
    /// Shared memory that the driver keeps of every block.
    pub reserved_shared_memory_per_block_bytes: Bytes,
    /// 32-bit registers per multiprocessor.
    pub registers_per_multiprocessor: u32,
    /// Resident threads per multiprocessor.
    pub threads_per_multiprocessor: u32,
    /// Resident blocks per multiprocessor.
    pub blocks_per_multiprocessor: u32,
    /// Highest core clock, in kHz.
    pub clock_khz: u32,
    /// Memory clock as CUDA states it (half of the data rate of GDDR memory), in kHz.
    pub memory_clock_khz: u32,
    /// Width of the memory bus, in bits.
    pub memory_bus_bits: u32,
    #[serde(skip)]
    pub(crate) sources: BTreeMap<Field, FigureSource>,
}

impl Profile {
    /// The device memory without the context.
    pub fn usable(&self) -> Bytes {
        self.total_bytes - self.context_bytes
    }

    /// The origin of a figure, with its source.
    pub fn provenance(&self, field: Field) -> (Provenance, &str) {
        match self.sources.get(&field) {
            Some((provenance, source)) => (*provenance, source),
            None => (Provenance::Estimated, "no source is recorded"),
        }
    }

    /// A copy of the profile with another total, for `--vram`.
    #[must_use]
    pub fn with_total(&self, total: Bytes) -> Profile {
        let mut profile = self.clone();
        profile.total_bytes = total;
        profile.sources.insert(Field::TotalBytes, (Provenance::Given, "stated by the user".to_owned()));
        profile
    }

    /// The text of the variable `OOMPH_DEVICE`: `key=value` joined by `;`, sizes in plain bytes.
    pub fn device_variable(&self) -> String {
        let mut text = format!("{}={}", profile::NAME, self.cuda_name);
        for field in Field::ALL {
            text.push(profile::SEPARATOR);
            text.push_str(field.key());
            text.push('=');
            text.push_str(&self.value(field));
        }
        text
    }

    /// A figure as plain text.
    fn value(&self, field: Field) -> String {
        let number = match field {
            Field::ComputeCapability => return self.compute_capability.to_string(),
            Field::TotalBytes => self.total_bytes.0,
            Field::ContextBytes => self.context_bytes.0,
            Field::Multiprocessors => self.multiprocessors.into(),
            Field::L2Bytes => self.l2_bytes.0,
            Field::SharedMemoryPerBlockBytes => self.shared_memory_per_block_bytes.0,
            Field::SharedMemoryPerBlockOptinBytes => self.shared_memory_per_block_optin_bytes.0,
            Field::SharedMemoryPerMultiprocessorBytes => self.shared_memory_per_multiprocessor_bytes.0,
            Field::ReservedSharedMemoryPerBlockBytes => self.reserved_shared_memory_per_block_bytes.0,
            Field::RegistersPerMultiprocessor => self.registers_per_multiprocessor.into(),
            Field::ThreadsPerMultiprocessor => self.threads_per_multiprocessor.into(),
            Field::BlocksPerMultiprocessor => self.blocks_per_multiprocessor.into(),
            Field::ClockKhz => self.clock_khz.into(),
            Field::MemoryClockKhz => self.memory_clock_khz.into(),
            Field::MemoryBusBits => self.memory_bus_bits.into(),
        };
        number.to_string()
    }
}
