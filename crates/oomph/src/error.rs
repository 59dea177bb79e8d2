//! Failures of oomph: a sentence each, and the next step.

mod input;
mod kinds;
mod lint;
mod sweep;

use std::io;
use std::path::PathBuf;

use base::{MachineError, SetupError};
use diagnose::TuneError;
use thiserror::Error;
use trace::Bytes;

pub(crate) use self::input::InputError;
pub(crate) use self::lint::LintError;
pub(crate) use self::sweep::SweepError;

/// The failure of a command. The text states the finding and [`Error::hint`] the next step.
#[derive(Debug, Error)]
pub(crate) enum Error {
    #[error("{0}")]
    Run(#[from] base::Error),
    #[error("{0}")]
    Input(#[from] InputError),
    #[error("{0}")]
    Lint(#[from] LintError),
    #[error("{0}")]
    Sweep(#[from] SweepError),
    #[error("{0}")]
    Tune(#[from] TuneError),
    #[error("{0}")]
    Machine(#[from] MachineError),
    #[error("`{}` is no folder: {source}", folder.display())]
    NoServedFolder { folder: PathBuf, source: io::Error },
    #[error("cannot serve: {0}")]
    Serve(io::Error),
    #[error("this oomph runs inside a dry run, whose program started it")]
    InsideDryRun,
    #[error("cannot use the terminal: {0}")]
    Terminal(io::Error),
    #[error("there is no remedy `{0}`")]
    UnknownRemedy(String),
    #[error("there is no rule `{name}`{}", suggestion(nearest.as_deref()))]
    UnknownRule { name: String, nearest: Option<String> },
    #[error("{0}")]
    Stopped(String),
    #[error("{0}")]
    NoBatch(String),
    #[error("there is no size to change: {0}")]
    NoSize(String),
    #[error("the program runs by itself, and fails as a child of the fork server: {0}")]
    OnlyForked(String),
    #[error("cannot read `{}`: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("`{}` is {kind}, expected {expected}", path.display())]
    OtherKind { path: PathBuf, kind: &'static str, expected: &'static str },
    #[error("`{}` has more than {most}, expected {expected}", path.display())]
    TooLong { path: PathBuf, most: Bytes, expected: &'static str },
    #[error("`{}` is damaged: {problem}", path.display())]
    Damaged { path: PathBuf, problem: String },
    #[error("cannot write `{}`: {source}", path.display())]
    Unwritable { path: PathBuf, source: io::Error },
    #[error("nothing was changed: {0}")]
    NotApplied(String),
    #[error("`{}` would be replaced, and is no file", .0.display())]
    NotAFile(PathBuf),
    #[error("two outputs go to `{}`: the later one would replace the other", .0.display())]
    SameOutput(PathBuf),
    #[error("cannot write the report: {0}")]
    Output(#[from] io::Error),
    #[error("cannot write the report as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl From<SetupError> for Error {
    fn from(error: SetupError) -> Error {
        Error::Run(error.into())
    }
}

impl From<gpus::UnknownGpu> for Error {
    fn from(error: gpus::UnknownGpu) -> Error {
        SetupError::from(error).into()
    }
}

impl Error {
    /// Returns the next step for the user.
    pub(crate) fn hint(&self) -> Option<String> {
        let hint = match self {
            Error::Run(error) => return error.hint(),
            Error::Input(error) => error.hint(),
            Error::Lint(error) => error.hint(),
            Error::Sweep(error) => error.hint(),
            Error::Tune(error) => return tune_hint(error).map(str::to_owned),
            Error::Machine(error) => error.hint(),
            Error::NoServedFolder { .. } => "name the folder of the project: --folder DIR",
            Error::InsideDryRun => "in the program, put the call behind `if not oomph.is_recording():`",
            Error::Terminal(_) => "`oomph top --once` prints one look",
            Error::UnknownRemedy(_) => "`oomph remedy` lists the remedies",
            Error::UnknownRule { .. } => "`oomph rule` lists the rules",
            Error::NoBatch(_) => {
                "name the option or the variable that sets it: --batch-arg=--bs, or --batch-arg BATCH_SIZE"
            }
            Error::NoSize(_) => "set it by hand, and ask `oomph check` of each size",
            Error::OnlyForked(_) => {
                "this is a bug of oomph; please report it. `oomph check --with REMEDY` tries one change at a time without a server"
            }
            Error::Damaged { .. } => {
                "was it written to its end, and copied whole? Snapshots come from torch.cuda.memory._dump_snapshot(FILE)"
            }
            Error::Unwritable { .. } | Error::NotAFile(_) => {
                "name a file in a folder that you may write to (--html, --json-file, --report, --write-baseline)"
            }
            Error::NotApplied(_) => {
                "`--apply --yes` asks nothing; `--emit diff` prints the changes, and `--emit command` the command line"
            }
            Error::SameOutput(_) => "name another file for one of them",
            Error::OtherKind { .. } | Error::TooLong { .. } => {
                "name the file itself; a pipe is read to its end as well"
            }
            Error::Serve(_) | Error::Stopped(_) | Error::Unreadable { .. } | Error::Output(_) | Error::Json(_) => {
                return None;
            }
        };
        Some(hint.to_owned())
    }
}

fn suggestion(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

fn tune_hint(error: &TuneError) -> Option<&'static str> {
    Some(match error {
        TuneError::Text(_) | TuneError::NoHistory(_) => {
            "record a history: torch.cuda.memory._record_memory_history() before the first tensor on the GPU, \
             torch.cuda.memory._dump_snapshot(FILE) at the end; or `oomph tune -- python train.py`, which does both"
        }
        TuneError::NotReplayable { .. } => {
            "was the history recorded by one process, and is the file as PyTorch wrote it?"
        }
        TuneError::NoSuchEvent { .. } => "events are counted from 0, as in the snapshot's device_traces",
        TuneError::NoSteps => "name events instead: --empty-cache-at 100,200",
        TuneError::Interrupted => return None,
    })
}
