//! Limits that the phantom and the agent share.

/// Bytes of the largest copy to the device whose values the phantom keeps (Note [Values on a phantom] in `crates/phantom/src/values.rs`).
pub const KEPT_BYTES: usize = 1 << 20;

/// The granularity of physical device memory (`cuMemGetAllocationGranularity` on every GPU so far): a CUDA context takes whole pages.
pub const PAGE_BYTES: u64 = 2 << 20;
