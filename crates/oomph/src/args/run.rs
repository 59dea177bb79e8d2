//! The arguments of `oomph run`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use report::Change;

use super::remedy::parse_real_change;

pub(super) const EXAMPLES: &str = "\
Examples:
  oomph run train.py --lr 1e-4
  oomph run -- torchrun --nproc-per-node 4 train.py
  oomph run --save run/ -- accelerate launch train.py
  oomph run --with optimizer-fused --with activation-checkpointing train.py
  oomph run --retry train.py                 after an out-of-memory error once more, with a verified change
  oomph explain run/                         the same explanation again, at any time

The program runs as it would without oomph: on the GPUs of this machine, with its terminal, its signals and its files.
The exit status is the program's, or 128 and the number of the signal that ended it; 2 if it could not be started.";

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// Keep the recording in DIR, also after a good end
    #[arg(long, value_name = "DIR")]
    pub(crate) save: Option<PathBuf>,

    /// Change the program while it runs, such as `optimizer-fused` or `gradient-accumulation=4`; `oomph remedy` lists the remedies
    #[arg(long = "with", value_name = "REMEDY[=VALUE]", value_parser = parse_real_change, conflicts_with = "retry", help_heading = "Changes")]
    pub(crate) changes: Vec<Change>,

    /// After an out-of-memory error before the first step, search for a change by dry runs, and start again with it, at most N times [default: 1]
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "1", value_parser = clap::value_parser!(u32).range(1..=9), help_heading = "Changes")]
    pub(crate) retry: Option<u32>,

    /// Retry also after a step: the program resumes from its own checkpoint
    #[arg(long, requires = "retry", help_heading = "Changes")]
    pub(crate) resumes: bool,

    /// Retry also with changes of the results: other numerics, another model, a smaller batch
    #[arg(long, requires = "retry", help_heading = "Changes")]
    pub(crate) retry_changes_results: bool,

    /// Print the whole report after an error
    #[arg(short, long)]
    pub(crate) verbose: bool,

    /// The Python that runs the script [default: the active environment's, else `python3`]
    #[arg(long, value_name = "PATH", env = crate::environment::PYTHON)]
    pub(crate) python: Option<PathBuf>,

    /// The script and its arguments; after `--`, any command line
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "SCRIPT [ARGS]")]
    pub(crate) program: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct RecordInto {
    /// The folder for recordings
    pub(crate) folder: PathBuf,

    /// The command line of the first process
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) program: Vec<OsString>,
}
