//! The command line and its help. The structs of clap end here: `program::prepare` makes a run specification of them.

mod check;
mod completions;
mod explain;
mod fit;
mod format;
mod groups;
mod job;
mod json;
mod lint;
mod lists;
mod mcp;
mod phantom;
mod remedy;
mod run;
mod skill;
mod sweep;
mod top;
mod tune;
mod watch;

use std::ffi::OsString;

use clap::{CommandFactory, Parser, Subcommand};

pub(crate) use self::check::{Check, CheckForm};
pub(crate) use self::completions::Completions;
pub(crate) use self::explain::Explain;
pub(crate) use self::fit::{Emit, Fit};
pub(crate) use self::format::LintFormat;
pub(crate) use self::groups::{GpuOptions, RunArguments};
pub(crate) use self::job::JobOptions;
pub(crate) use self::json::{JsonTargets, asks_for_agent, find_command, find_json};
pub(crate) use self::lint::{ALL, FixMode, Lint, parse_rule};
pub(crate) use self::lists::{Gpus, RemedyName, RuleName};
pub(crate) use self::mcp::Mcp;
pub(crate) use self::phantom::Phantom;
pub(crate) use self::run::{MetricsTarget, RecordInto, ReportKind, Run, SnapshotSignal};
pub(crate) use self::skill::Skill;
pub(crate) use self::sweep::Sweep;
pub(crate) use self::top::Top;
pub(crate) use self::tune::Tune;
pub(crate) use self::watch::WatchSaves;

/// Ends PyTorch's `CUDA out of memory`: says before a GPU is touched whether a program fits, and what fills the memory.
#[derive(Debug, Parser)]
#[command(name = "oomph", version, propagate_version = true, arg_required_else_help = true)]
struct Arguments {
    /// Answer a coding agent: one compact object and no progress; the default under known agents [env: OOMPH_AGENT=]
    // Read by `audience` before the other arguments: their defaults follow from the reader.
    #[arg(long, global = true, display_order = 1000, help_heading = "Output")]
    agent: bool,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Will this program fit? Runs it on a phantom GPU; no real GPU is needed.
    #[command(after_help = check::EXAMPLES)]
    Check(Check),
    /// Why did it run out of memory? Reads what a crash left: logs, snapshots, tables.
    #[command(after_help = explain::EXAMPLES)]
    Explain(Explain),
    /// What is the smallest change that makes it fit? Tries remedies on a phantom GPU, alone and together.
    #[command(after_help = fit::EXAMPLES)]
    Fit(Box<Fit>),
    /// Which of many configurations fit which GPUs? Tries a grid of them, on this machine, Ray or Slurm.
    #[command(after_help = sweep::EXAMPLES)]
    Sweep(Box<Sweep>),
    /// What did that edit cost? Runs the program again at each save, and shows the change of the peak by line.
    #[command(after_help = watch::EXAMPLES)]
    Watch(WatchSaves),
    /// What does it do on the GPU? Runs a program for real, records its memory, and explains its end.
    #[command(after_help = run::EXAMPLES)]
    Run(Run),
    /// What is on the GPUs now? All processes, and PyTorch's view of those under `oomph run`.
    #[command(after_help = top::EXAMPLES)]
    Top(Top),
    /// Prepares the folder of `OOMPH_RUN` and prints where the agent is, for a Python that was started without `oomph run`.
    #[command(name = run::RECORD_INTO, hide = true)]
    RecordInto(RecordInto),
    /// Which allocator settings suit this program? Replays a recorded one under many of them, exactly.
    #[command(after_help = tune::EXAMPLES)]
    Tune(Box<Tune>),
    /// Which memory mistakes are in the source? Reads Python files and notebooks; runs nothing.
    #[command(after_help = lint::EXAMPLES)]
    Lint(Box<Lint>),
    /// Serves a coding agent: `check`, `fit`, `explain` and `gpus` as tools of the Model Context Protocol.
    #[command(after_help = mcp::EXAMPLES)]
    Mcp(Mcp),
    /// Lists the known GPUs, or shows one with the source of each figure.
    #[command(after_help = lists::GPUS_EXAMPLES)]
    Gpus(Gpus),
    /// Lists the remedies that `fit` tries, or prints the page of one.
    Remedy(RemedyName),
    /// Lists the rules of `lint`, and of `check` and `explain`, or prints the page of one.
    Rule(RuleName),
    /// Prints the instructions for coding agents, or writes them into a folder of skills.
    #[command(after_help = skill::EXAMPLES)]
    Skill(Skill),
    /// Runs any command on a phantom GPU and records nothing: to try out what oomph sees, or to debug.
    #[command(after_help = phantom::EXAMPLES)]
    Phantom(Phantom),
    /// Prints the script that completes commands, options and names in a shell.
    #[command(after_help = completions::EXAMPLES)]
    Completions(Completions),
}

/// Returns clap's definition of all commands.
pub(crate) fn define() -> clap::Command {
    let mut all = Arguments::command();
    // Clap then names the whole command line in each usage.
    all.build();
    all
}

/// Returns clap's definition of all commands, with the values that a shell offers.
pub(crate) fn define_completed() -> clap::Command {
    completions::add_offers(&Arguments::command())
}

/// Returns the definition of one command, as `oomph COMMAND --help` shows it.
pub(crate) fn help_of(command: &str) -> clap::Command {
    let all = define();
    all.find_subcommand(command).cloned().unwrap_or(all)
}

/// Parses a whole command line, oomph's own name first. Returns the command, and whether its program follows a `--`.
///
/// Clap drops the `--` before a trailing argument. The `--` was ours if the words before it are no complete command line: in
/// `oomph check train.py -- x` the `--` belongs to the script.
pub(crate) fn parse_line(line: &[OsString]) -> Result<(Command, bool), clap::Error> {
    let arguments = Arguments::try_parse_from(line)?;
    let dashes = line.iter().position(|word| word == "--");
    let after_dashes = dashes.is_some_and(|dashes| Arguments::try_parse_from(&line[..dashes]).is_err());
    Ok((arguments.command, after_dashes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_word_after_the_script_is_the_scripts() {
        let cases: [(&[&str], &[&str], bool); 4] = [
            (&["--gpu", "t4", "train.py", "--steps", "9", "--json"], &["train.py", "--steps", "9", "--json"], false),
            (&["train.py", "--", "x"], &["train.py", "--", "x"], false),
            (&["--", "torchrun", "--gpu", "x"], &["torchrun", "--gpu", "x"], true),
            (&["--gpu", "t4", "--", "python", "--", "x"], &["python", "--", "x"], true),
        ];
        for (words, program, expected) in cases {
            let line: Vec<OsString> = ["oomph", "check"].iter().chain(words).map(OsString::from).collect();
            let Ok((Command::Check(check), after_dashes)) = parse_line(&line) else {
                panic!("{line:?} is a valid command line");
            };
            assert_eq!(check.program, program);
            assert_eq!(after_dashes, expected, "{line:?}");
            assert_eq!(
                (check.run.steps, check.output.format.chosen()),
                (None, report::render::Format::Terminal),
                "{line:?}"
            );
        }
    }
}
