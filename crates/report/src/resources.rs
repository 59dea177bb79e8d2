//! A request for the smallest resources that a program needs.

use trace::Bytes;

/// What a program needs of a machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResourceRequest {
    /// The command line, for a shell.
    pub command: String,
    /// The name of the program's file, without its ending.
    pub program: String,
    /// The version of PyTorch in the dry runs.
    pub torch: Option<String>,
    /// The GPUs with enough memory, the smallest first; at least one.
    pub gpus: Vec<RequestedGpu>,
}

/// A GPU with enough memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestedGpu {
    /// The name.
    pub name: String,
    /// The memory that the program needs on it, context and libraries included.
    pub need_bytes: Bytes,
    /// SkyPilot's name.
    pub sky: Option<String>,
    /// The flavor of Hugging Face Jobs.
    pub flavor: Option<String>,
}

impl ResourceRequest {
    /// The largest need on one of the GPUs.
    pub(crate) fn most_bytes(&self) -> Bytes {
        self.gpus.iter().map(|gpu| gpu.need_bytes).max().unwrap_or_default()
    }
}
