//! The arguments of `oomph fit`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::Path;

use clap::{Args, ValueEnum};

use crate::args::{self, Card, Check, Depth, Printed};
use crate::world::JobArguments;

/// Shown below the help.
pub(crate) const EXAMPLES: &str = "\
Examples:
  oomph fit --gpu rtx-4090 train.py --batch-size 64       the smallest change that makes it fit
  oomph fit --gpu rtx-3060 --keep-numerics train.py       no other precision, no other model
  oomph fit --gpu rtx-4090 --deny activation-checkpointing train.py
  oomph fit --gpu rtx-4090 --max-batch train.py           the largest batch that fits
  oomph fit --any-gpu train.py                            a plan for each size of memory, 8 to 80 GiB
  oomph fit --gpu rtx-4090 --emit diff train.py > fit.patch

Every plan was run on the phantom GPU with the real allocator. Ctrl-C ends the search with the best so far.
Exit status: 0 it fits, as it is or with a plan, 1 nothing that is allowed makes it fit, 2 oomph could not do its work.";

/// What to make fit, and what may be changed for it.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct Fit {
    #[command(flatten)]
    pub(crate) card: Card,

    /// How much of the GPU the program may take, in percent of its memory
    #[arg(long, value_name = "PERCENT", default_value_t = 95, value_parser = clap::value_parser!(u64).range(1..=100))]
    pub(crate) target: u64,

    /// Also these remedies, which need to be asked for: they change what is trained, or need more than this machine
    #[arg(long, value_name = "REMEDY", value_delimiter = ',', value_parser = args::parse_remedy)]
    pub(crate) allow: Vec<String>,

    /// Never these remedies
    #[arg(long, value_name = "REMEDY", value_delimiter = ',', value_parser = args::parse_remedy)]
    pub(crate) deny: Vec<String>,

    /// Only remedies that leave the results the same, up to rounding
    #[arg(long)]
    pub(crate) keep_numerics: bool,

    /// Find the largest batch with which the program fits, unchanged
    #[arg(long)]
    pub(crate) max_batch: bool,

    /// What sets the batch size, where it is not found: an option of the script, or a variable in it
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub(crate) batch_arg: Option<String>,

    /// A plan for each size of memory from 8 to 80 GiB
    #[arg(long)]
    pub(crate) any_gpu: bool,

    /// Print this in place of the report: `diff` is a patch of the script that makes the first plan permanent
    #[arg(long, value_name = "WHAT", value_enum)]
    pub(crate) emit: Option<Emit>,

    #[command(flatten)]
    pub(crate) printed: Printed,

    #[command(flatten)]
    depth: Depth,

    /// Make every dry run anew, and keep none for the next time
    #[arg(long)]
    pub(crate) no_cache: bool,

    /// How many runs go on at the same time [default: one for each core, as far as the memory goes]
    #[arg(long, short, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,

    /// The script and its arguments; after `--`, any command line
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "SCRIPT [ARGS]")]
    pub(crate) program: Vec<OsString>,

    /// Whether the program stands after a `--`; set by `Arguments::parse_line`.
    #[arg(skip)]
    pub(crate) is_command_line: bool,
}

/// What is printed in place of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Emit {
    /// A patch of the user's own files.
    Diff,
}

impl Fit {
    /// The script, where the command line names one.
    pub(crate) fn script(&self) -> Option<&Path> {
        self.program.iter().map(Path::new).find(|word| word.extension().is_some_and(|ending| ending == "py"))
    }

    /// The program as `check` takes it.
    pub(crate) fn check(&self) -> Check {
        Check {
            card: self.card.clone(),
            world: JobArguments::default(),
            depth: self.depth.clone(),
            changes: Vec::new(),
            form: args::Form::default(),
            save: None,
            verbose: false,
            program: self.program.clone(),
            is_command_line: self.is_command_line,
            conf: None,
        }
    }
}
