//! The arguments of `oomph watch`.

use std::ffi::OsString;

use clap::Args;

use super::groups::{GpuOptions, OthersOption, RunArguments};

pub(super) const EXAMPLES: &str = "\
Examples:
  oomph watch --gpu rtx-4090 train.py --batch-size 64     an answer at each save of train.py and the files that it reads
  oomph watch --json train.py                             one JSON object a line, for editors and agents

The program's packages are imported once; each save forks a child of that process. Ctrl-C ends.
Exit status: 0 the last answer was that it fits, 1 that it does not, 2 oomph could not do its work.";

/// The program to watch.
#[derive(Debug, Args)]
pub(crate) struct WatchSaves {
    #[command(flatten)]
    pub(crate) gpu: GpuOptions,

    #[command(flatten)]
    pub(crate) others: OthersOption,

    #[command(flatten)]
    pub(crate) run: RunArguments,

    /// Print one JSON object a line
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,

    /// End after this number of saves
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub(crate) saves: Option<u64>,

    /// The script and its arguments; after `--`, any command line
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "SCRIPT [ARGS]")]
    pub(crate) program: Vec<OsString>,
}
