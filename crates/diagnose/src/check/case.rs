//! The subject of `check`: the recorded runs and their launch.

use trace::run::Ended;
use trace::{Bytes, Launch, Run};

use crate::judge::sharing::{Shared, find_shared};
use report::words::relative;

/// A program that was run on a phantom GPU, and run again without a limit if the first run ran out.
#[derive(Clone, Debug)]
pub struct Case {
    /// The start and the end of the first run.
    pub launch: Launch,
    /// The run under the device's limit.
    pub limited: Run,
    /// The run without a limit; `None` if the first run did not run out of memory.
    pub unlimited: Option<UnlimitedRun>,
    /// True if oomph chose the GPU because the user named no GPU.
    pub gpu_assumed: bool,
    /// The reader's working directory; paths are shown relative to it.
    pub folder: String,
    /// The duration of all runs.
    pub seconds: f64,
}

/// A run without a limit.
#[derive(Clone, Debug)]
pub struct UnlimitedRun {
    /// The records of the run.
    pub run: Run,
    /// The end of the program, as seen by its parent.
    pub ended: Option<Ended>,
}

impl Case {
    /// The device's memory.
    pub(super) fn total(&self) -> Bytes {
        Bytes(self.launch.device_total_bytes)
    }

    /// The device's memory less a CUDA context.
    pub(super) fn usable(&self) -> Bytes {
        self.total() - self.context()
    }

    /// The size of a CUDA context.
    pub(super) fn context(&self) -> Bytes {
        Bytes(self.launch.device_context_bytes)
    }

    /// Returns the fullest of the devices that several processes used.
    pub(super) fn shared(&self) -> Option<Shared> {
        find_shared(&self.launch, &self.limited)
    }

    /// Returns `file` relative to the reader's directory if the directory contains it.
    pub(super) fn show<'a>(&self, file: &'a str) -> &'a str {
        relative(file, &self.folder)
    }
}
