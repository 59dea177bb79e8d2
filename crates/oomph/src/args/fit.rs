//! The arguments of `oomph fit`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::Path;

use clap::{Args, ValueEnum};
use report::Change;
use report::fit::{Prefer, SizeKind};

use super::groups::{FormatOptions, GpuOptions, OthersOption, RunArguments};
use super::remedy::{parse_change, parse_remedy};

pub(super) const EXAMPLES: &str = "\
Examples:
  oomph fit --gpu rtx-4090 train.py --batch-size 64       the smallest change that makes it fit
  oomph fit --gpu rtx-3060 --keep-numerics train.py       no other precision, no other model
  oomph fit --gpu rtx-4090 --deny activation-checkpointing train.py
  oomph fit --gpu rtx-4090 --max-batch train.py           the largest batch that fits
  oomph fit --gpu rtx-4090 --max-length --with activation-checkpointing train.py
  oomph fit --any-gpu train.py                            a plan for each size of memory, 8 to 141 GiB
  oomph fit --gpu rtx-4090 --emit diff train.py > fit.patch
  oomph fit --gpu rtx-4090 --apply train.py               make the first plan's changes, after a question

Every plan was run on the phantom GPU with the real allocator. Ctrl-C ends the search with the best so far.
Exit status: 0 it fits, as it is or with a plan, 1 no allowed change makes it fit, 2 oomph could not do its work.";

/// The program to make fit, and the changes that are allowed.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct Fit {
    #[command(flatten)]
    pub(crate) gpu: GpuOptions,

    #[command(flatten)]
    pub(crate) others: OthersOption,

    /// A plan for each size of memory from 8 to 141 GiB
    #[arg(long, help_heading = "GPU")]
    pub(crate) any_gpu: bool,

    /// The share of the GPU's memory that the program may take, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 95, value_parser = clap::value_parser!(u64).range(1..=100), help_heading = "GPU")]
    pub(crate) target: u64,

    /// Also try these remedies: they change the training, or need more GPUs than the program uses
    #[arg(long, value_name = "REMEDY", value_delimiter = ',', value_parser = parse_remedy, help_heading = "Search")]
    pub(crate) allow: Vec<String>,

    /// Do not try these remedies
    #[arg(long, value_name = "REMEDY", value_delimiter = ',', value_parser = parse_remedy, help_heading = "Search")]
    pub(crate) deny: Vec<String>,

    /// Try only remedies that leave the results the same, up to rounding
    #[arg(long, help_heading = "Search")]
    pub(crate) keep_numerics: bool,

    /// Try every remedy alone, also those that the answer does not need, and look for plans that keep a mistake
    #[arg(long, help_heading = "Search")]
    pub(crate) try_all: bool,

    /// The order of plans
    #[arg(long, value_name = "ORDER", value_enum, default_value_t = Order::Options, help_heading = "Search")]
    pub(crate) prefer: Order,

    /// Find the largest batch with which the program fits
    #[arg(long, help_heading = "Search", conflicts_with_all = ["max_length", "max_resolution"])]
    pub(crate) max_batch: bool,

    /// Find the longest sequences with which the program fits
    #[arg(long, help_heading = "Search", conflicts_with = "max_resolution")]
    pub(crate) max_length: bool,

    /// Find the largest images with which the program fits
    #[arg(long, help_heading = "Search")]
    pub(crate) max_resolution: bool,

    /// Make these changes in every run: `--max-batch --with activation-checkpointing`
    #[arg(long = "with", value_name = "REMEDY", value_delimiter = ',', value_parser = parse_change, help_heading = "Search")]
    pub(crate) with: Vec<Change>,

    /// The option of the script, or the variable in it, that sets the batch size, if oomph does not find it
    #[arg(long, value_name = "NAME", allow_hyphen_values = true, help_heading = "Search")]
    pub(crate) batch_arg: Option<String>,

    #[command(flatten)]
    pub(crate) run: RunArguments,

    /// Make every dry run again, and store no results
    #[arg(long, help_heading = "Run")]
    pub(crate) no_cache: bool,

    /// The number of dry runs at a time [default: one per core, as far as the memory suffices]
    #[arg(long, short, value_name = "N", help_heading = "Run")]
    pub(crate) jobs: Option<NonZeroUsize>,

    /// Print this in place of the report: the first plan as a patch of your files, or as a command line
    #[arg(long, value_name = "WHAT", value_enum, help_heading = "Output")]
    pub(crate) emit: Option<Emit>,

    /// Make the first plan's changes in your files: shows them and asks; each file keeps a copy FILE.orig
    #[arg(long, help_heading = "Output", conflicts_with_all = ["emit", "max_batch", "max_length", "max_resolution", "any_gpu"])]
    pub(crate) apply: bool,

    /// Apply without asking
    #[arg(long, short, requires = "apply", help_heading = "Output")]
    pub(crate) yes: bool,

    /// The whole report: all plans, and what each remedy does alone
    #[arg(long, short, help_heading = "Output")]
    pub(crate) verbose: bool,

    #[command(flatten)]
    pub(crate) format: FormatOptions,

    /// The script and its arguments; after `--`, any command line
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "SCRIPT [ARGS]")]
    pub(crate) program: Vec<OsString>,
}

/// The order of plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    /// The program's own options first, then edits; each with the same results before others
    Options,
    /// The same results first, then the least time and work
    Results,
    /// The least time first
    Time,
    /// The fewest edits of the source first
    Edits,
}

impl From<Order> for Prefer {
    fn from(order: Order) -> Prefer {
        match order {
            Order::Options => Prefer::Options,
            Order::Results => Prefer::Results,
            Order::Time => Prefer::Time,
            Order::Edits => Prefer::Edits,
        }
    }
}

/// An output in place of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Emit {
    /// A patch of the user's own files
    Diff,
    /// The command line that starts the program
    Command,
}

impl Fit {
    /// The kind of size that the largest is asked of.
    pub(crate) fn largest(&self) -> Option<SizeKind> {
        let asked = [
            (self.max_batch, SizeKind::Batch),
            (self.max_length, SizeKind::Length),
            (self.max_resolution, SizeKind::Resolution),
        ];
        asked.into_iter().find(|(is_asked, _)| *is_asked).map(|(_, kind)| kind)
    }

    /// The script, where the command line names one.
    pub(crate) fn script(&self) -> Option<&Path> {
        self.program.iter().map(Path::new).find(|word| word.extension().is_some_and(|ending| ending == "py"))
    }
}
