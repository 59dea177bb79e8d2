//! Counters in the agent's records.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A selection of `torch.cuda.memory_stats` of one device. Sizes are in bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceStats {
    /// The device.
    pub device: u32,
    /// `allocated_bytes.all.current`.
    pub allocated_bytes: u64,
    /// `allocated_bytes.all.peak` over the whole run, regardless of `reset_peak_memory_stats`.
    pub allocated_peak_bytes: u64,
    /// `reserved_bytes.all.current`.
    pub reserved_bytes: u64,
    /// `reserved_bytes.all.peak` over the whole run.
    pub reserved_peak_bytes: u64,
    /// `num_alloc_retries`: the requests for which the cache was released.
    pub alloc_retries: u64,
    /// `num_ooms`.
    pub ooms: u64,
}

/// The GPU work of operators, counted by `python/oomph/agent/work.py`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuWork {
    /// FLOPs of matrix products, convolutions and attention, by dtype, e.g. `float32`.
    pub flops: BTreeMap<String, u64>,
    /// Bytes that operators read and wrote on the device.
    pub bytes: u64,
    /// Bytes copied between host and device.
    pub host_bytes: u64,
    /// The number of operators.
    pub operators: u64,
}
