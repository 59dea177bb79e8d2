//! The arguments of `oomph run`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

pub(super) const EXAMPLES: &str = "\
Examples:
  oomph run train.py --lr 1e-4
  oomph run -- torchrun --nproc-per-node 4 train.py
  oomph run --save run/ -- accelerate launch train.py
  oomph run --against run/ train.py          recorded again, and compared with the first run
  oomph explain run/                         the same explanation again, at any time

The program runs as it would without oomph: on the GPUs of this machine, with its terminal, its signals and its files.
The exit status is the program's, or 128 and the number of the signal that ended it; 2 if it could not be started.";

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// Keep the recording in DIR, also after a good end
    #[arg(long, value_name = "DIR")]
    pub(crate) save: Option<PathBuf>,

    /// Compare with the run that was recorded in DIR: the first request that differs, and the lines at the peak
    #[arg(long, value_name = "DIR")]
    pub(crate) against: Option<PathBuf>,

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
