//! Errors about the configurations of a sweep, its folder and its engines.

use std::path::PathBuf;

use diagnose::SetterError;
use options::GridError;
use report::failure::ErrorKind;
use report::words::grouped;
use thiserror::Error;
use trace::Bytes;

/// Why configurations cannot be swept.
#[derive(Debug, Error)]
pub(crate) enum SweepError {
    #[error("{0}")]
    Grid(GridError),
    #[error("`{}` is no list of configurations: {problem}", path.display())]
    Configs { path: PathBuf, problem: String },
    #[error("the grid has {} configurations, more than {}: at 2 seconds a dry run {}", many(*count), grouped(*most), hours_of(*hours))]
    TooMany { count: Option<u64>, most: u64, hours: u64 },
    #[error("{0}")]
    Setter(#[from] SetterError),
    #[error("no GPU was asked for")]
    NoGpu,
    #[error("other processes use {others}: nothing of the {gpu} is left")]
    NothingLeft { gpu: String, others: Bytes },
    #[error("`{}` holds another sweep: other words, configurations, GPUs or options", .0.display())]
    OtherSweep(PathBuf),
    #[error("another oomph is at work in `{}`", .0.display())]
    Busy(PathBuf),
    #[error("standard input is no task of a sweep: {0}")]
    BadTask(String),
    #[error("{0}")]
    Engine(String),
    #[error("a request for resources is for the program as it is, without a grid")]
    RequestOfGrid,
    #[error("the program fits, but {} cannot be asked for by name there", .0.join(", "))]
    NoOffer(Vec<String>),
    #[error("there is nothing to ask for, because the program fails: {0}")]
    Fails(String),
    #[error("cannot write the table `{}`: {problem}", path.display())]
    Table { path: PathBuf, problem: String },
}

impl SweepError {
    /// Returns the next step for the user.
    pub(super) fn hint(&self) -> &'static str {
        match self {
            SweepError::Grid(_) => "`--grid batch=8..128x2,dtype=bf16,fp32`; `oomph sweep --help` has examples",
            SweepError::Configs { .. } => {
                "write an object on each line, all with the same names: {\"batch\": 8, \"dtype\": \"bf16\"}"
            }
            SweepError::TooMany { .. } => "take larger steps (8..128x2), or raise the limit: --max-points",
            SweepError::Setter(_) => {
                "name an option of the program (--batch-size), a key (config.yaml#train.batch) or a variable ($BATCH)"
            }
            SweepError::NoGpu => "`oomph gpus` lists the GPUs; --gpu all takes every card",
            SweepError::NothingLeft { .. } => "leave that GPU out, or lower --others",
            SweepError::OtherSweep(_) => "name another folder, or remove this one",
            SweepError::Busy(_) => "wait for its end, or name another folder: --out DIR",
            SweepError::BadTask(_) => "--worker is for oomph itself; call `oomph sweep` without it",
            SweepError::Engine(_) => "without --ray and --slurm the work is done on this machine",
            SweepError::RequestOfGrid => "write the settings as the program's own options: train.py --batch 8",
            SweepError::NoOffer(_) => "leave --gpu out: every GPU that is offered is then tried",
            SweepError::Fails(_) => "`oomph check` shows the program's output",
            SweepError::Table { .. } => "points.jsonl beside it has the same points",
        }
    }

    /// The kind of the error, for programs.
    pub(super) fn kind(&self) -> ErrorKind {
        match self {
            SweepError::Grid(_)
            | SweepError::TooMany { .. }
            | SweepError::NoGpu
            | SweepError::NothingLeft { .. }
            | SweepError::RequestOfGrid
            | SweepError::NoOffer(_)
            | SweepError::BadTask(_) => ErrorKind::BadArguments,
            SweepError::Configs { .. } => ErrorKind::WrongFile,
            SweepError::Setter(_) => ErrorKind::UnknownName,
            SweepError::OtherSweep(_) | SweepError::Busy(_) | SweepError::Table { .. } => ErrorKind::UnwritableFile,
            SweepError::Fails(_) => ErrorKind::ProgramFailed,
            SweepError::Engine(_) => ErrorKind::System,
        }
    }
}

fn many(count: Option<u64>) -> String {
    count.map_or_else(|| "more than 18 quintillion".to_owned(), grouped)
}

fn hours_of(hours: u64) -> String {
    match hours {
        0 => "less than an hour on one core".to_owned(),
        1 => "an hour on one core".to_owned(),
        _ => format!("{} hours on one core", grouped(hours)),
    }
}
