//! The arguments of `oomph phantom`.

use std::ffi::OsString;

use clap::Args;

use super::groups::{GpuOptions, OthersOption};

pub(super) const EXAMPLES: &str = "\
Examples:
  oomph phantom --gpu a100-80gb-pcie -- python -c 'import torch; print(torch.cuda.get_device_properties(0))'
  oomph phantom --gpus 4 -- python train.py
  oomph phantom --gpu rtx-4090 --others 16GiB -- python train.py
  oomph phantom --gpu rtx-4090 -- bash -c 'python serve.py & python train.py'

Processes that the command starts share the memory of the GPU, and NVML lists them with their bytes.
Kernels do not run: the command reads zeros where a GPU would have computed a value.
The exit status is the command's.";

#[derive(Debug, Args)]
pub(crate) struct Phantom {
    #[command(flatten)]
    pub(crate) gpu: GpuOptions,

    #[command(flatten)]
    pub(crate) others: OthersOption,

    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND [ARGS]")]
    pub(crate) command: Vec<OsString>,
}
