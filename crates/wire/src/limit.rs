//! Limits that the phantom and the agent share.

/// Bytes of the largest copy to the device whose values the phantom keeps (Note [Values on a phantom] in `crates/phantom/src/values.rs`).
pub const KEPT_BYTES: usize = 1 << 20;
