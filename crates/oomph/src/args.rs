//! The command line, and its documentation.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use report::Change;
use trace::Bytes;

use crate::world::JobArguments;

/// Ends PyTorch's `CUDA out of memory`: says before a GPU is touched whether a program fits, and what fills the memory.
#[derive(Debug, Parser)]
#[command(name = "oomph", version, propagate_version = true, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Will this program fit? Runs it on a phantom GPU; no real one is needed.
    #[command(after_help = CHECK_EXAMPLES)]
    Check(Check),
    /// Why did it run out of memory? Reads what a crash left: logs, snapshots, tables.
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(Explain),
    /// What is the smallest change that makes it fit? Tries remedies on a phantom GPU, alone and together.
    #[command(after_help = crate::commands::fit::EXAMPLES)]
    Fit(Box<crate::commands::fit::Fit>),
    /// Which allocator settings suit this program? Replays a recorded one under many of them, exactly.
    #[command(after_help = crate::commands::tune::EXAMPLES)]
    Tune(Box<crate::commands::tune::Tune>),
    /// Which memory mistakes are in the source? Reads Python files and notebooks; runs nothing.
    #[command(after_help = crate::commands::lint::EXAMPLES)]
    Lint(Box<crate::commands::lint::Lint>),
    /// Lists the GPUs that are known, or shows one with the provenance of each figure.
    #[command(after_help = GPUS_EXAMPLES)]
    Gpus(Gpus),
    /// Lists the remedies that `fit` tries, or prints the page of one.
    Remedy(Remedy),
    /// Lists the rules of `lint`, and of `check` and `explain`, or prints the page of one.
    Rule(Rule),
    /// Runs any command on a phantom GPU and records nothing: to try out what oomph sees, or to debug.
    #[command(after_help = PHANTOM_EXAMPLES)]
    Phantom(Phantom),
}

const CHECK_EXAMPLES: &str = "\
Examples:
  oomph check --gpu rtx-4090 train.py --batch-size 64
  oomph check --gpu a100-sxm4-40gb --steps 1 train.py
  oomph check --gpu rtx-3060 --vram 10GiB train.py          a card that others use too
  oomph check --gpu h100-sxm --json train.py > report.json
  oomph check --gpu l4 --format github train.py             in a workflow: annotations at the lines
  oomph check --gpus 2 -- torchrun --nproc-per-node 2 train.py
  oomph check --gpu h100-sxm --world-size 64 train.py       rank 0 of 64, in one process
  oomph check --world-size 64 --rank first,last -- torchrun --nproc-per-node 8 train.py
  oomph check -- python -m package.train --epochs 1

The program runs as it is, with real PyTorch, up to the end of the third optimizer step (--steps).
Exit status: 0 it fits, 1 it does not, 2 oomph could not tell.";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  oomph explain crash.log                    the error that it holds
  oomph explain snapshot.pickle              also in gzip, zstd, zip, or as JSON
  oomph explain crash.log snapshot.pickle    both, of one crash
  oomph explain before.pickle after.pickle   compared: what grew, and where
  oomph explain rank0.pickle rank1.pickle    one job, as a folder of them is
  oomph explain run/                         what `oomph check --save` kept
  python train.py 2>&1 | oomph explain
  nvidia-smi -q | oomph explain - crash.log
  oomph explain --html why.html snapshot.pickle

What a file is, is seen from its content. Its name tells the rank, if any: rank0, rank_1, -r2. Nothing in it is executed.
Exit status: 0 nothing was found, 1 something was, 2 oomph could not do its work.";

const GPUS_EXAMPLES: &str = "\
Examples:
  oomph gpus                 all of them
  oomph gpus 4090            one, with where each figure comes from
  oomph gpus --json";

/// Which GPU is shown, and how many of it.
#[derive(Clone, Debug, Args)]
pub(crate) struct Card {
    /// The GPU, such as `rtx-4090`; `oomph gpus` lists them [default: this machine's, else an RTX 4090]
    #[arg(long, value_name = "NAME")]
    pub(crate) gpu: Option<String>,

    /// The memory the GPU has, such as `16GiB`, in place of what is known of it
    #[arg(long, value_name = "SIZE", value_parser = gpus::parse_size)]
    pub(crate) vram: Option<Bytes>,

    /// How many such GPUs there are
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) gpus: u32,
}

/// How a program is run, and how far.
#[derive(Clone, Debug, Args)]
pub(crate) struct Depth {
    /// Stop the program after so many optimizer steps; 0 runs it to its end
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) steps: u32,

    /// Stop a program that does not get there in time
    #[arg(long, value_name = "SECONDS", default_value = "600", value_parser = parse_seconds)]
    pub(crate) timeout: Duration,

    /// Share of elements that shapes depending on computed values (nonzero, masks) are assumed to select
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, value_parser = parse_share)]
    pub(crate) fraction: f64,

    /// The Python that runs the script [default: the active environment's, else `python3`]
    #[arg(long, value_name = "PATH", env = crate::environment::PYTHON)]
    pub(crate) python: Option<PathBuf>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) card: Card,

    #[command(flatten)]
    pub(crate) world: JobArguments,

    #[command(flatten)]
    pub(crate) depth: Depth,

    /// Change the program while it runs, such as `optimizer-fused` or `autocast:dtype=bf16`; `oomph remedy` lists what there is
    #[arg(long = "with", value_name = "REMEDY", value_delimiter = ',', value_parser = parse_change)]
    pub(crate) changes: Vec<Change>,

    #[command(flatten)]
    pub(crate) form: Form,

    /// Keep the run in this folder: what was recorded, and a snapshot for torch's memory_viz
    #[arg(long, value_name = "DIR")]
    pub(crate) save: Option<PathBuf>,

    /// Show what the program prints, on standard error
    #[arg(long, short)]
    pub(crate) verbose: bool,

    /// The script and its arguments; after `--`, any command line
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "SCRIPT [ARGS]")]
    pub(crate) program: Vec<OsString>,

    /// Whether the program stands after a `--`; set by [`Arguments::parse_line`].
    #[arg(skip)]
    pub(crate) is_command_line: bool,

    /// The allocator's settings that the program gets in place of its own; `tune` sets them.
    #[arg(skip)]
    pub(crate) conf: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) form: Form,

    /// Logs, snapshots, tables, folders; `-` is standard input, and so is no FILE where it is no terminal
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

/// How an answer is printed.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Printed {
    /// Print one JSON object instead of the report; short for `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// How the answer is written
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Terminal)]
    format: Format,
}

/// The forms that an answer takes.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Form {
    #[command(flatten)]
    pub(crate) printed: Printed,

    /// Write a page as well: one file, which needs no network
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

/// How an answer is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people: at most 80 columns
    #[default]
    Terminal,
    /// One line per finding
    Concise,
    /// Annotations in the log of GitHub's workflows
    Github,
    /// One JSON object
    Json,
}

impl Printed {
    /// The format that was asked for.
    pub(crate) fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

const PHANTOM_EXAMPLES: &str = "\
Examples:
  oomph phantom --gpu a100-80gb-pcie -- python -c 'import torch; print(torch.cuda.get_device_properties(0))'
  oomph phantom --gpus 4 -- python train.py
  oomph phantom --gpu rtx-4090 --others 16GiB -- python train.py

The exit status is the command's.";

#[derive(Debug, Args)]
pub(crate) struct Phantom {
    #[command(flatten)]
    pub(crate) card: Card,

    /// What other processes hold of each GPU, such as `16GiB`
    #[arg(long, value_name = "SIZE", value_parser = gpus::parse_size)]
    pub(crate) others: Option<Bytes>,

    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND [ARGS]")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct Remedy {
    /// Print the page of this one, such as `gradient-accumulation`
    pub(crate) name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Rule {
    /// Print the page of this one, such as `graph-in-collection`
    pub(crate) name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Gpus {
    /// Show this one
    pub(crate) name: Option<String>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl Arguments {
    /// The definition of one command, as `oomph COMMAND --help` shows it.
    pub(crate) fn help_of(command: &str) -> clap::Command {
        let mut all = Arguments::command();
        // So that the usage names the whole line.
        all.build();
        all.find_subcommand(command).cloned().unwrap_or(all)
    }

    /// Parses a whole command line, the program's own name first.
    ///
    /// Clap drops the `--` before a trailing argument. It was there, and ours, if the words before the first one are
    /// no complete command line: in `oomph check train.py -- x` the `--` belongs to the script.
    pub(crate) fn parse_line(line: &[OsString]) -> Result<Arguments, clap::Error> {
        let mut arguments = Arguments::try_parse_from(line)?;
        let Some(dashes) = line.iter().position(|word| word == "--") else { return Ok(arguments) };
        let is_command_line = || Arguments::try_parse_from(&line[..dashes]).is_err();
        match &mut arguments.command {
            Command::Check(check) => check.is_command_line = is_command_line(),
            Command::Fit(fit) => fit.is_command_line = is_command_line(),
            _ => {}
        }
        Ok(arguments)
    }
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let number = text.strip_suffix('s').unwrap_or(text);
    let seconds: f64 = number.parse().map_err(|_| format!("`{text}` is no number of seconds"))?;
    let duration = Duration::try_from_secs_f64(seconds).ok().filter(|duration| !duration.is_zero());
    duration.ok_or_else(|| format!("`{text}` is out of range; expected seconds above 0"))
}

/// A remedy with its settings, as `autocast:dtype=bf16`.
fn parse_change(text: &str) -> Result<Change, String> {
    let change: Change = text.parse().map_err(|error: report::ChangeError| error.to_string())?;
    let settings = remedies::find(&parse_remedy(&change.remedy)?).map_or(&[][..], |spec| spec.settings);
    let Some(unknown) = change.settings.keys().find(|key| !settings.contains(&key.as_str())) else { return Ok(change) };
    let expected =
        if settings.is_empty() { "it has none".to_owned() } else { format!("expected {}", settings.join(" or ")) };
    Err(format!("`{}` has no setting `{unknown}`; {expected}", change.remedy))
}

/// The name of a remedy.
pub(crate) fn parse_remedy(text: &str) -> Result<String, String> {
    let known = || remedies::TABLE.iter().map(|spec| spec.name).collect::<Vec<_>>().join(", ");
    remedies::find(text)
        .map(|spec| spec.name.to_owned())
        .ok_or_else(|| format!("there is no remedy `{text}`; expected one of {}", known()))
}

fn parse_share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err(format!("`{text}` is no share; expected a number from 0 to 1")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn settings_that_a_remedy_lacks_are_refused() {
        let cases = [
            ("autocast:dtype=bf16", None),
            ("batch-size:arg=--bs:size=8", None),
            ("autocast:dtyp=bf16", Some("`autocast` has no setting `dtyp`; expected dtype")),
            ("sdpa:rank=8", Some("`sdpa` has no setting `rank`; it has none")),
            ("batch-size:sise=8", Some("`batch-size` has no setting `sise`; expected size or arg or probe")),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_change(text).err().as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn everything_after_the_script_is_the_scripts() {
        let cases: [(&[&str], &[&str], bool); 4] = [
            (&["--gpu", "t4", "train.py", "--steps", "9", "--json"], &["train.py", "--steps", "9", "--json"], false),
            (&["train.py", "--", "x"], &["train.py", "--", "x"], false),
            (&["--", "torchrun", "--gpu", "x"], &["torchrun", "--gpu", "x"], true),
            (&["--gpu", "t4", "--", "python", "--", "x"], &["python", "--", "x"], true),
        ];
        for (words, program, is_command_line) in cases {
            let line: Vec<OsString> = ["oomph", "check"].iter().chain(words).map(OsString::from).collect();
            let Ok(Arguments { command: Command::Check(check) }) = Arguments::parse_line(&line) else {
                panic!("{line:?} is a valid command line");
            };
            assert_eq!(check.program, program);
            assert_eq!(check.is_command_line, is_command_line, "{line:?}");
            assert_eq!((check.depth.steps, check.form.printed.format()), (3, Format::Terminal), "{line:?}");
        }
    }
}
