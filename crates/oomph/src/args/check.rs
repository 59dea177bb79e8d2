//! The arguments of `oomph check`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use report::Change;

use super::groups::{GpuOptions, OthersOption, OutputOptions, RunArguments};
use super::job::JobOptions;
use super::remedy::parse_change;
use super::run::ReportKind;

pub(super) const EXAMPLES: &str = "\
Examples:
  oomph check --gpu rtx-4090 train.py --batch-size 64
  oomph check --gpu a100-sxm4-40gb -v train.py              the whole report, and what the program prints
  oomph check --gpu rtx-3060 --others 4GiB train.py         a GPU that others use too
  oomph check --gpu h100-sxm --json train.py > report.json
  oomph check --gpu l4 --format github train.py             in a workflow: annotations at the lines
  oomph check --gpu l4 --format markdown train.py           for a pull request, an issue, a job's summary
  oomph check --gpus 2 -- torchrun --nproc-per-node 2 train.py
  oomph check --gpu h100-sxm --world-size 64 train.py       rank 0 of 64, in one process
  oomph check --world-size 64 --rank first,last -- torchrun --nproc-per-node 8 train.py
  oomph check -- python -m package.train --epochs 1

The program runs with real PyTorch, from its load to its end: first steps, the largest batches, evaluation, save, the next epoch. Its
loops are shortened: a pass that repeats the passes before it is left out. --steps N stops after N optimizer steps, for a quick look.
`fits` is said of a program that came to its end with nothing left open; `fits so far` names what was not run or was assumed.
Exit status: 0 it fits, or fits so far (1 with --strict); 1 it does not fit; 2 oomph could not tell;
after a signal 128 and its number, with a report of what was seen.";

#[derive(Clone, Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) gpu: GpuOptions,

    #[command(flatten)]
    pub(crate) others: OthersOption,

    #[command(flatten)]
    pub(crate) job: JobOptions,

    #[command(flatten)]
    pub(crate) run: RunArguments,

    /// Change the program while it runs, such as `optimizer-fused` or `autocast:dtype=bf16`; `oomph remedy` lists the remedies
    #[arg(long = "with", value_name = "REMEDY", value_delimiter = ',', value_parser = parse_change, help_heading = "Run")]
    pub(crate) changes: Vec<Change>,

    /// Exit with status 1 unless the whole program fits: `fits so far` is not enough
    #[arg(long, help_heading = "Run")]
    pub(crate) strict: bool,

    #[command(flatten)]
    pub(crate) output: OutputOptions,

    /// Also write the JSON object to this file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) json_file: Option<PathBuf>,

    /// Also write the report to FILE: JSON, a page if the name ends in `.html`, Markdown if it ends in `.md`, JUnit XML if it ends in `.xml`;
    /// may be repeated
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) report: Vec<PathBuf>,

    /// Keep the recorded run in this folder, with a snapshot for torch's memory_viz
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(crate) save: Option<PathBuf>,

    /// Show the whole report, and the program's output on standard error
    #[arg(long, short, help_heading = "Output")]
    pub(crate) verbose: bool,

    /// The script and its arguments; after `--`, any command line
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "SCRIPT [ARGS]")]
    pub(crate) program: Vec<OsString>,
}

/// The form of the report in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckForm {
    /// JUnit XML.
    Junit,
    /// A form that `run` has, too.
    Common(ReportKind),
}

impl CheckForm {
    /// The form by the name of the file.
    pub(crate) fn of(path: &Path) -> CheckForm {
        let is_xml = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("xml"));
        if is_xml { CheckForm::Junit } else { CheckForm::Common(ReportKind::of(path, None)) }
    }
}
