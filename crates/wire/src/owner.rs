//! Names of the owners of device memory in the phantom's journal; every other owner is the file name of a library.

/// PyTorch's caching allocator.
pub const PYTORCH: &str = "pytorch";
/// The CUDA context.
pub const CONTEXT: &str = "context";
/// The communicators of NCCL.
pub const NCCL: &str = "nccl";
