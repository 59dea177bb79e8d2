//! Names of the settings that other crates read or write; a setting that only the agent reads is a text of its row.

/// The value of `PYTORCH_CUDA_ALLOC_CONF`.
pub const CONF: &str = "conf";
/// The part of the activations that a compiler keeps: `0.5`.
pub const BUDGET: &str = "budget";
/// The number of parts of a batch.
pub const STEPS: &str = "steps";
/// The new size.
pub const SIZE: &str = "size";
/// The option or the name in the source that sets the size.
pub const ARG: &str = "arg";
/// Present: the size is looked for, and not changed.
pub const PROBE: &str = "probe";
