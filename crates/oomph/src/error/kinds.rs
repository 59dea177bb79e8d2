//! The kind of each error for programs, and the file that the error is about.

use std::io;
use std::path::Path;

use diagnose::TuneError;
use diagnose::failure::ProgramFailure;
use drive::SetupError;
use drive::machine::MachineError;
use report::failure::{Failure, FailureKind};

use super::{Error, InputError, LintError};

impl Error {
    /// Returns the error as it is written for programs.
    pub(crate) fn describe(&self) -> Failure {
        let (file, line) = self.place();
        Failure {
            kind: self.kind(),
            message: self.to_string(),
            file,
            line,
            hint: self.hint(),
            next: self.next(),
            output: self.output().map(str::to_owned),
        }
    }

    /// The last output of a failed program; `None` if empty.
    pub(crate) fn output(&self) -> Option<&str> {
        let Error::Run(drive::Error::Program(failure)) = self else { return None };
        Some(failure.last_output().trim_end()).filter(|output| !output.is_empty())
    }

    fn kind(&self) -> FailureKind {
        match self {
            Error::Run(error) => kind_of_run(error),
            Error::Input(error) => kind_of_input(error),
            Error::Lint(error) => kind_of_lint(error),
            Error::Tune(error) => kind_of_tune(error),
            Error::Machine(MachineError::File { .. }) | Error::OtherKind { .. } | Error::TooLong { .. } => {
                FailureKind::WrongFile
            }
            Error::Machine(_) => FailureKind::NoDriver,
            Error::UnknownRemedy(_) | Error::UnknownRule { .. } => FailureKind::UnknownName,
            Error::Stopped(_) => FailureKind::Interrupted,
            Error::NoBatch(_) => FailureKind::NoBatchSize,
            Error::Unreadable { source, .. } => kind_of_read(source),
            Error::Damaged { .. } => FailureKind::DamagedFile,
            Error::Unwritable { .. } | Error::NotAFile(_) | Error::SameOutput(_) => FailureKind::UnwritableFile,
            Error::Terminal(_) | Error::Output(_) => FailureKind::System,
            Error::OnlyForked(_) | Error::Json(_) => FailureKind::Bug,
        }
    }

    fn place(&self) -> (Option<String>, Option<u32>) {
        if let Error::Run(drive::Error::Program(failure)) = self {
            return failure.place().map(|(file, line)| (file.clone(), *line)).unzip();
        }
        (self.file().map(|file| file.to_string_lossy().into_owned()), None)
    }

    /// The next command, of an error that a list or a help page answers.
    fn next(&self) -> Option<Vec<String>> {
        let words: &[&str] = match self {
            Error::Run(drive::Error::Setup(SetupError::UnknownGpu(_))) => &["oomph", "gpus"],
            Error::Run(drive::Error::Setup(SetupError::NoOption(_))) => &["oomph", "check", "--help"],
            Error::UnknownRemedy(_) => &["oomph", "remedy"],
            Error::UnknownRule { .. } => &["oomph", "rule"],
            Error::Terminal(_) => &["oomph", "top", "--once"],
            _ => return None,
        };
        Some(words.iter().map(|word| (*word).to_owned()).collect())
    }

    fn file(&self) -> Option<&Path> {
        match self {
            Error::Run(error) => file_of_run(error),
            Error::Input(error) => file_of_input(error),
            Error::Lint(error) => file_of_lint(error),
            Error::Tune(TuneError::Text(path) | TuneError::NoHistory(path) | TuneError::NotReplayable { path, .. }) => {
                Some(Path::new(path))
            }
            Error::Machine(MachineError::File { path, .. })
            | Error::Unreadable { path, .. }
            | Error::OtherKind { path, .. }
            | Error::TooLong { path, .. }
            | Error::Damaged { path, .. }
            | Error::Unwritable { path, .. }
            | Error::NotAFile(path) => Some(path),
            _ => None,
        }
    }
}

fn kind_of_run(error: &drive::Error) -> FailureKind {
    use drive::Error as Run;
    match error {
        Run::Setup(error) => kind_of_setup(error),
        Run::Program(failure) => kind_of_failure(failure),
        Run::RunFolder { .. } | Run::RunFolderInUse(_) | Run::MetricsFile { .. } => FailureKind::UnwritableFile,
        Run::Unreadable { source, .. } => kind_of_read(source),
        Run::Damaged { .. } => FailureKind::DamagedFile,
        Run::NoProcess(_) | Run::NotInRun(_) | Run::RunIsGone { .. } => FailureKind::NoSuchProcess,
        Run::ProcessOfOthers(_) | Run::ProcessHidden(_) => FailureKind::NoPermission,
        Run::Interrupted => FailureKind::Interrupted,
        Run::MetricsAddress { .. } | Run::Signals(_) | Run::Wait(_) => FailureKind::System,
    }
}

fn kind_of_read(error: &io::Error) -> FailureKind {
    if error.kind() == io::ErrorKind::NotFound { FailureKind::NoSuchFile } else { FailureKind::UnreadableFile }
}

fn kind_of_setup(error: &SetupError) -> FailureKind {
    use SetupError as Setup;
    match error {
        Setup::UnknownGpu(_) => FailureKind::UnknownName,
        Setup::TooLittleMemory { .. }
        | Setup::NothingLeft { .. }
        | Setup::UnevenWorld { .. }
        | Setup::NoSuchRank { .. }
        | Setup::NoOption(_) => FailureKind::BadArguments,
        Setup::NoScript(_) | Setup::NoProgramFile(_) => FailureKind::NoSuchFile,
        Setup::ScriptIsFolder(_) | Setup::ScriptIsPipe(_) | Setup::NotUtf8(_) | Setup::ProgramIsFolder(_) => {
            FailureKind::WrongFile
        }
        Setup::NoPython { .. } | Setup::NoAnswer { .. } => FailureKind::NoPython,
        Setup::NoTorch(_) => FailureKind::NoTorch,
        Setup::CpuOnlyTorch { .. } | Setup::UnsupportedTorch { .. } => FailureKind::UnsupportedTorch,
        Setup::NotInPath(_) | Setup::NotExecutable(_) | Setup::NoInterpreter { .. } | Setup::NoProgram { .. } => {
            FailureKind::NoProgram
        }
        Setup::Cache { .. } | Setup::CacheNoExec(_) | Setup::CacheSplits(_) | Setup::NoCache => FailureKind::NoCache,
    }
}

fn kind_of_failure(failure: &ProgramFailure) -> FailureKind {
    use ProgramFailure as Program;
    match failure {
        Program::MissingEntryPoint { .. } => FailureKind::Bug,
        Program::Raised { .. } | Program::Child { .. } | Program::Exited { .. } | Program::Killed { .. } => {
            FailureKind::ProgramFailed
        }
        Program::RanOutUnlimited { .. } => FailureKind::ProgramRanOut,
        Program::NoSnapshot { .. } | Program::NoAgent { .. } => FailureKind::System,
        Program::NoTorch { .. } | Program::NoCuda { .. } => FailureKind::NoCuda,
        Program::TimedOut { .. } | Program::Stopped { .. } => FailureKind::ProgramStopped,
    }
}

fn kind_of_input(error: &InputError) -> FailureKind {
    match error {
        InputError::NoFile(_) => FailureKind::NoSuchFile,
        InputError::NothingNamed | InputError::NamedTwice(_) => FailureKind::BadArguments,
        InputError::Empty(_)
        | InputError::Foreign { .. }
        | InputError::Device { .. }
        | InputError::NotARun(_)
        | InputError::TooManyFiles { .. } => FailureKind::WrongFile,
        InputError::NotASnapshot { .. } => FailureKind::DamagedFile,
        InputError::NothingInFolder { .. } => FailureKind::NothingToRead,
    }
}

fn kind_of_lint(error: &LintError) -> FailureKind {
    match error {
        LintError::NothingThere(_) => FailureKind::NoSuchFile,
        LintError::NothingToLint(_) => FailureKind::NothingToRead,
        LintError::Pattern { .. } => FailureKind::BadArguments,
        LintError::Settings { .. } | LintError::Baseline { .. } => FailureKind::WrongFile,
        LintError::NoBaseline(_) => FailureKind::UnwritableFile,
    }
}

fn kind_of_tune(error: &TuneError) -> FailureKind {
    match error {
        TuneError::Text(_) => FailureKind::WrongFile,
        TuneError::NoHistory(_) => FailureKind::NothingToRead,
        TuneError::NotReplayable { .. } => FailureKind::DamagedFile,
        TuneError::NoSuchEvent { .. } | TuneError::NoSteps => FailureKind::BadArguments,
        TuneError::Interrupted => FailureKind::Interrupted,
    }
}

fn file_of_run(error: &drive::Error) -> Option<&Path> {
    use drive::Error as Run;
    match error {
        Run::Setup(error) => file_of_setup(error),
        Run::RunFolder { folder: path, .. }
        | Run::RunFolderInUse(path)
        | Run::Unreadable { path, .. }
        | Run::Damaged { path, .. }
        | Run::MetricsFile { path, .. }
        | Run::RunIsGone { folder: path, .. } => Some(path),
        _ => None,
    }
}

fn file_of_setup(error: &SetupError) -> Option<&Path> {
    use SetupError as Setup;
    match error {
        Setup::NoScript(path)
        | Setup::ScriptIsFolder(path)
        | Setup::ScriptIsPipe(path)
        | Setup::NotUtf8(path)
        | Setup::NoPython { python: path, .. }
        | Setup::NoProgramFile(path)
        | Setup::ProgramIsFolder(path)
        | Setup::NotExecutable(path)
        | Setup::NoInterpreter { file: path, .. }
        | Setup::NoTorch(path)
        | Setup::NoAnswer { python: path, .. }
        | Setup::CpuOnlyTorch { python: path, .. }
        | Setup::Cache { folder: path, .. }
        | Setup::CacheNoExec(path)
        | Setup::CacheSplits(path) => Some(path),
        _ => None,
    }
}

fn file_of_input(error: &InputError) -> Option<&Path> {
    match error {
        InputError::NothingNamed => None,
        InputError::NoFile(path)
        | InputError::NamedTwice(path)
        | InputError::Empty(path)
        | InputError::Foreign { path, .. }
        | InputError::NotASnapshot { path, .. }
        | InputError::Device { path, .. }
        | InputError::NothingInFolder { folder: path, .. }
        | InputError::NotARun(path)
        | InputError::TooManyFiles { folder: path, .. } => Some(path),
    }
}

fn file_of_lint(error: &LintError) -> Option<&Path> {
    match error {
        LintError::NothingThere(path)
        | LintError::Settings { path, .. }
        | LintError::Baseline { path, .. }
        | LintError::NoBaseline(path) => Some(path),
        LintError::NothingToLint(paths) => paths.first().map(std::path::PathBuf::as_path),
        LintError::Pattern { .. } => None,
    }
}
