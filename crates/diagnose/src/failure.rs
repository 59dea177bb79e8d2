//! Ends of the program that leave nothing to report.

mod data;
mod hints;
mod hub;

use report::words::name_cause;
use thiserror::Error;
use trace::run::StopCause;

use self::hints::Exception;
pub use self::hints::is_about_data;
use crate::judge::launchers::ChildFailure;

/// The longest part of an exception's message that is repeated, in characters.
const LONGEST_MESSAGE: usize = 400;

/// An end of the program that leaves nothing to report.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "each variant has its sentence")]
pub enum ProgramFailure {
    #[error("called {}, which the phantom GPU does not have{}", symbols.join(", "), line_of(at.as_ref()))]
    MissingEntryPoint { symbols: Vec<String>, at: Option<(String, u32)>, output: String },
    #[error("raised {type_name}{}{}", cut_message(message), line_of(at.as_ref()))]
    Raised {
        type_name: String,
        message: String,
        at: Option<(String, u32)>,
        read: Option<(String, u32)>,
        /// Functions of libraries that a release has changed.
        changed: Option<String>,
        output: String,
    },
    #[error("failed in a process of its launcher{}: {}", status_of(child.code), child.last_line)]
    Child { child: ChildFailure },
    #[error("ran out of memory on a GPU without a limit: one request is larger than any device")]
    RanOutUnlimited { output: String },
    #[error("left no snapshot of its memory in the run folder")]
    NoSnapshot { output: String },
    #[error("used the phantom GPU, but oomph's agent was not started in it")]
    NoAgent { output: String },
    #[error("never imported PyTorch")]
    NoTorch { output: String },
    #[error("never used CUDA: there is no GPU memory to check")]
    NoCuda { output: String },
    #[error("ended with exit status {code} before it used CUDA")]
    Exited { code: i32, output: String },
    #[error("was killed by signal {signal} before anything could be recorded")]
    Killed { signal: i32, output: String },
    #[error("did not use CUDA within {seconds:.0} s{}", line_of(at.as_ref()))]
    TimedOut { seconds: f64, at: Option<(String, u32)>, output: String },
    #[error("was stopped by {} after {seconds:.0} s, before it used CUDA{}", name_cause(*by), line_of(at.as_ref()))]
    Stopped { by: StopCause, seconds: f64, at: Option<(String, u32)>, output: String },
}

/// Returns the message of an exception, after its type; empty for a bare `assert`. Long messages, such as a printed
/// tensor, are cut: the program's own output, which follows, has the full text.
fn cut_message(message: &str) -> String {
    if message.is_empty() {
        return String::new();
    }
    match message.char_indices().nth(LONGEST_MESSAGE) {
        Some((end, _)) => format!(": {} …", &message[..end]),
        None => format!(": {message}"),
    }
}

fn status_of(code: Option<i32>) -> String {
    code.map_or_else(String::new, |code| format!(" (exit status {code})"))
}

fn line_of(at: Option<&(String, u32)>) -> String {
    at.map_or_else(String::new, |(file, line)| format!("\n  at {file}:{line}"))
}

impl ProgramFailure {
    /// The line of the program, if it is known.
    pub fn place(&self) -> Option<&(String, u32)> {
        match self {
            ProgramFailure::MissingEntryPoint { at, .. }
            | ProgramFailure::Raised { at, .. }
            | ProgramFailure::TimedOut { at, .. }
            | ProgramFailure::Stopped { at, .. } => at.as_ref(),
            _ => None,
        }
    }

    /// The end of what the program printed.
    pub fn last_output(&self) -> &str {
        match self {
            ProgramFailure::MissingEntryPoint { output, .. }
            | ProgramFailure::Raised { output, .. }
            | ProgramFailure::RanOutUnlimited { output }
            | ProgramFailure::NoSnapshot { output }
            | ProgramFailure::NoAgent { output }
            | ProgramFailure::NoTorch { output }
            | ProgramFailure::NoCuda { output }
            | ProgramFailure::Exited { output, .. }
            | ProgramFailure::Killed { output, .. }
            | ProgramFailure::Child { child: ChildFailure { output, .. } }
            | ProgramFailure::Stopped { output, .. }
            | ProgramFailure::TimedOut { output, .. } => output,
        }
    }

    /// Returns the next step for the user.
    pub fn hint(&self) -> String {
        let hint = match self {
            ProgramFailure::Raised { type_name, message, read, changed, .. } => {
                let hint = hints::find_hint(&Exception { type_name, message, read: read.as_ref() });
                return changed.as_ref().map_or_else(|| hint.clone(), |changed| format!("{hint}; {changed}"));
            }
            ProgramFailure::MissingEntryPoint { .. } => {
                "a program that works on a GPU and fails here is a bug of oomph; please report it with these names"
            }
            ProgramFailure::RanOutUnlimited { .. } => "`oomph check` shows which line asks for how much",
            ProgramFailure::NoSnapshot { output } if is_about_names(output) => {
                "a file of the program, or a folder above one, has a name that is not UTF-8, for which PyTorch cannot record memory: rename it"
            }
            ProgramFailure::NoSnapshot { .. } => "is the disk full? TMPDIR, or --save DIR, chooses another folder",
            ProgramFailure::NoAgent { .. } => {
                "the agent is found through PYTHONPATH and `sitecustomize`, which `python -I`, `-E` and `-S` leave out"
            }
            ProgramFailure::NoTorch { .. } => {
                "give the script that trains, with the arguments that it needs; a program that the script starts with another environment is not recorded"
            }
            ProgramFailure::NoCuda { .. } => {
                "does it need an argument such as `--device cuda`? On the phantom, torch.cuda.is_available() is True"
            }
            ProgramFailure::Exited { output, .. } | ProgramFailure::Child { child: ChildFailure { output, .. } } => {
                hints::of_output(output)
            }
            ProgramFailure::Killed { signal: 9, .. } => "signal 9 often means that the machine ran out of host memory",
            ProgramFailure::Killed { .. } => "--verbose shows what the program prints",
            ProgramFailure::Stopped { .. } => "nothing was seen yet: imports alone may take a minute on a slow disk",
            ProgramFailure::TimedOut { .. } => "give it more time with --timeout SECONDS, or less data to prepare",
        };
        hint.to_owned()
    }
}

/// True if PyTorch could not convert the name of a file (pybind11's words, in PyTorch 2.5 to 2.11).
fn is_about_names(output: &str) -> bool {
    output.contains("Unable to cast Python instance")
}
