//! Failures to read the GPUs of a machine.

use std::path::PathBuf;

use thiserror::Error;
use trace::machine::SmiError;

/// A failure to read the GPUs of a machine.
#[derive(Debug, Error)]
pub enum MachineError {
    /// NVML is not installed.
    #[error("this machine has no NVIDIA driver: its library `libnvidia-ml.so.1` is missing")]
    NoLibrary,
    /// The driver's kernel module is not loaded.
    #[error("the NVIDIA driver is not loaded")]
    NotLoaded,
    /// The library belongs to another version than the loaded kernel module.
    #[error("the NVIDIA driver was updated, and the loaded kernel module is of another version than its library")]
    Mismatch,
    /// The library lacks a function that every supported driver has.
    #[error("the NVIDIA driver is too old: its library has no function for {0}")]
    TooOld(&'static str),
    /// Another answer of the library.
    #[error("the NVIDIA driver answers: {0}")]
    Driver(String),
    /// A file is not as expected.
    #[error("`{}` is no record of a machine: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The finding.
        problem: Box<SmiError>,
    },
}

impl MachineError {
    /// The next step for the user.
    pub fn hint(&self) -> &'static str {
        match self {
            MachineError::NoLibrary => {
                "in a container, start it with GPUs (`docker run --gpus all`); `oomph top --from FILE` shows another machine's \
                 `nvidia-smi -q -x`, and `oomph phantom --gpu NAME -- oomph top` a phantom"
            }
            MachineError::NotLoaded => "`modprobe nvidia` loads it; `dmesg | grep -i nvrm` says why it does not load",
            MachineError::Mismatch => "restart the machine, or reload the nvidia kernel modules",
            MachineError::TooOld(_) => "update the driver to 510 or later",
            MachineError::Driver(_) => {
                "`nvidia-smi` should answer the same; `dmesg | grep -i nvrm` has the kernel's words"
            }
            MachineError::File { .. } => "write it with `nvidia-smi -q -x > FILE`",
        }
    }
}
