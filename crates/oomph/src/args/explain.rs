//! The arguments of `oomph explain`.

use std::path::PathBuf;

use clap::Args;

use super::groups::OutputOptions;

pub(super) const EXAMPLES: &str = "\
Examples:
  oomph explain crash.log                    the error in a log
  oomph explain snapshot.pickle              also in gzip, zstd, zip, or as JSON
  oomph explain crash.log snapshot.pickle    both, of one crash
  oomph explain before.pickle after.pickle   compared: the growth, and where
  oomph explain rank0.pickle rank1.pickle    one job; a folder is a job too
  oomph explain yesterday/ today/            two recorded runs: where they part
  oomph explain run/                         a run that `oomph run` or `oomph check --save` kept
  oomph explain --pid 4711                   what a program under `oomph run` holds now
  python train.py 2>&1 | oomph explain
  nvidia-smi -q | oomph explain - crash.log
  oomph explain --html why.html snapshot.pickle

The content of a file tells its kind, and its name the rank: rank0, rank_1, -r2. Nothing in a file is executed.
Exit status: 0 nothing was found, 1 something was (or two runs differ), 2 oomph could not do its work, or a text has no such error.";

#[derive(Debug, Args)]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) output: OutputOptions,

    /// Print the whole report about a text: the figures, all findings, how to do what helps
    #[arg(short, long, help_heading = "Output")]
    pub(crate) verbose: bool,

    /// Look at a running program: the process of an `oomph run`, or one under it
    #[arg(long, value_name = "PID", conflicts_with = "files", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) pid: Option<u32>,

    /// Logs, snapshots, tables, folders; `-` or no FILE reads standard input when piped
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}
