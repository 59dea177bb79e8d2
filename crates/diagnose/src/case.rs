//! What `check` is about: the recorded runs and how they were launched.

use trace::{Bytes, Launch, Run};

use crate::measure::paths::relative;

/// A program that was run on a phantom GPU, and run again without a limit if the first run ran out.
#[derive(Clone, Debug)]
pub struct Case {
    /// How the first run was started, and how it ended.
    pub launch: Launch,
    /// The run under the device's limit.
    pub limited: Run,
    /// The run without a limit; `None` where the first did not run out of memory.
    pub unlimited: Option<Run>,
    /// Whether nobody named the GPU and oomph chose it.
    pub gpu_assumed: bool,
    /// The folder that the reader stands in; paths are shown relative to it.
    pub folder: String,
    /// How long all of it took.
    pub seconds: f64,
}

impl Case {
    /// The device's memory.
    pub(crate) fn total(&self) -> Bytes {
        Bytes(self.launch.device_total_bytes)
    }

    /// The device's memory less a CUDA context.
    pub(crate) fn usable(&self) -> Bytes {
        self.total() - self.context()
    }

    /// What a CUDA context takes.
    pub(crate) fn context(&self) -> Bytes {
        Bytes(self.launch.device_context_bytes)
    }

    /// `file` for a sentence: relative to the reader's folder where it lies in it.
    pub(crate) fn show<'a>(&self, file: &'a str) -> &'a str {
        relative(file, &self.folder)
    }
}
