//! The kind of each error for programs, and the file that the error is about.

use std::io;
use std::path::Path;

use base::{MachineError, SetupError, SlurmError};
use diagnose::TuneError;
use diagnose::failure::ProgramFailure;
use report::failure::{CommandError, ErrorKind};

use super::{Error, InputError, LintError};

impl Error {
    /// Returns the error as it is written for programs.
    pub(crate) fn describe(&self) -> CommandError {
        let (file, line) = self.place();
        CommandError {
            kind: self.kind(),
            message: self.to_string(),
            file,
            line,
            hint: self.hint(),
            next: self.next(),
            output: self.last_output().map(str::to_owned),
        }
    }

    /// The last output of a failed program; `None` if empty.
    pub(crate) fn last_output(&self) -> Option<&str> {
        let Error::Run(base::Error::Program(failure)) = self else { return None };
        Some(failure.last_output().trim_end()).filter(|output| !output.is_empty())
    }

    fn kind(&self) -> ErrorKind {
        match self {
            Error::Run(error) => kind_of_run(error),
            Error::Input(error) => kind_of_input(error),
            Error::Lint(error) => kind_of_lint(error),
            Error::Sweep(error) => error.kind(),
            Error::Tune(error) => kind_of_tune(error),
            Error::Machine(MachineError::File { .. }) | Error::OtherKind { .. } | Error::TooLong { .. } => {
                ErrorKind::WrongFile
            }
            Error::Machine(_) => ErrorKind::NoDriver,
            Error::UnknownRemedy(_) | Error::UnknownRule { .. } => ErrorKind::UnknownName,
            Error::InsideDryRun => ErrorKind::BadArguments,
            Error::Stopped(_) => ErrorKind::Interrupted,
            Error::NoBatch(_) | Error::NoSize(_) => ErrorKind::NoBatchSize,
            Error::Unreadable { source, .. } => kind_of_read(source),
            Error::Damaged { .. } => ErrorKind::DamagedFile,
            Error::Unwritable { .. } | Error::NotAFile(_) | Error::SameOutput(_) => ErrorKind::UnwritableFile,
            Error::NotApplied(_) => ErrorKind::NotApplied,
            Error::NoServedFolder { .. } => ErrorKind::NoSuchFile,
            Error::Serve(_) | Error::Terminal(_) | Error::Output(_) => ErrorKind::System,
            Error::OnlyForked(_) | Error::Json(_) => ErrorKind::Bug,
        }
    }

    fn place(&self) -> (Option<String>, Option<u32>) {
        if let Error::Run(base::Error::Program(failure)) = self {
            return failure.place().map(|(file, line)| (file.clone(), *line)).unzip();
        }
        (self.file().map(|file| file.to_string_lossy().into_owned()), None)
    }

    /// The next command, of an error that a list or a help page answers.
    fn next(&self) -> Option<Vec<String>> {
        let words: &[&str] = match self {
            Error::Run(base::Error::Setup(SetupError::UnknownGpu(_))) => &["oomph", "gpus"],
            Error::Run(base::Error::Setup(SetupError::NoOption(_))) => &["oomph", "check", "--help"],
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

fn kind_of_run(error: &base::Error) -> ErrorKind {
    use base::Error as Run;
    match error {
        Run::Setup(error) => kind_of_setup(error),
        Run::Program(failure) => kind_of_failure(failure),
        Run::RunFolder { .. } | Run::RunFolderInUse(_) | Run::MetricsFile { .. } => ErrorKind::UnwritableFile,
        Run::Unreadable { source, .. } => kind_of_read(source),
        Run::Damaged { .. } | Run::OwnFile { .. } => ErrorKind::DamagedFile,
        Run::NoProcess(_) | Run::NotInRun(_) | Run::RunIsGone { .. } => ErrorKind::NoSuchProcess,
        Run::ProcessOfOthers(_) | Run::ProcessHidden(_) => ErrorKind::NoPermission,
        Run::Interrupted => ErrorKind::Interrupted,
        Run::Slurm(SlurmError::UnknownJob { .. }) => ErrorKind::UnknownName,
        Run::Slurm(SlurmError::Log { .. }) => ErrorKind::NoSuchFile,
        Run::Slurm(SlurmError::NoCommands) | Run::MetricsAddress { .. } | Run::Signals(_) | Run::Wait(_) => {
            ErrorKind::System
        }
    }
}

fn kind_of_read(error: &io::Error) -> ErrorKind {
    if error.kind() == std::io::ErrorKind::NotFound { ErrorKind::NoSuchFile } else { ErrorKind::UnreadableFile }
}

fn kind_of_setup(error: &SetupError) -> ErrorKind {
    use SetupError as Setup;
    match error {
        Setup::UnknownGpu(_) => ErrorKind::UnknownName,
        Setup::TooLittleMemory { .. }
        | Setup::NothingLeft { .. }
        | Setup::UnevenWorld { .. }
        | Setup::NoSuchRank { .. }
        | Setup::NoOption(_) => ErrorKind::BadArguments,
        Setup::NoScript(_) | Setup::NoProgramFile(_) => ErrorKind::NoSuchFile,
        Setup::ScriptIsFolder(_) | Setup::ScriptIsPipe(_) | Setup::NotUtf8(_) | Setup::ProgramIsFolder(_) => {
            ErrorKind::WrongFile
        }
        Setup::NoPython { .. } | Setup::NoAnswer { .. } => ErrorKind::NoPython,
        Setup::NoTorch(_) => ErrorKind::NoTorch,
        Setup::CpuOnlyTorch { .. } | Setup::UnsupportedTorch { .. } => ErrorKind::UnsupportedTorch,
        Setup::NotInPath(_) | Setup::NotExecutable(_) | Setup::NoInterpreter { .. } | Setup::NoProgram { .. } => {
            ErrorKind::NoProgram
        }
        Setup::OtherProcessor(_) | Setup::OtherSystem { .. } => ErrorKind::System,
        Setup::Cache { .. } | Setup::CacheNoExec(_) | Setup::CacheSplits(_) | Setup::NoCache => ErrorKind::NoCache,
    }
}

fn kind_of_failure(failure: &ProgramFailure) -> ErrorKind {
    use ProgramFailure as Program;
    match failure {
        Program::MissingEntryPoint { .. } => ErrorKind::Bug,
        Program::Raised { .. } | Program::Child { .. } | Program::Exited { .. } | Program::Killed { .. } => {
            ErrorKind::ProgramFailed
        }
        Program::RanOutUnlimited { .. } => ErrorKind::ProgramRanOut,
        Program::NoSnapshot { .. } | Program::NoAgent { .. } => ErrorKind::System,
        Program::NoTorch { .. } | Program::NoCuda { .. } => ErrorKind::NoCuda,
        Program::TimedOut { .. } | Program::Stopped { .. } => ErrorKind::ProgramStopped,
    }
}

fn kind_of_input(error: &InputError) -> ErrorKind {
    match error {
        InputError::NoFile(_) => ErrorKind::NoSuchFile,
        InputError::NothingNamed | InputError::NamedTwice(_) => ErrorKind::BadArguments,
        InputError::Empty(_)
        | InputError::Foreign { .. }
        | InputError::Device { .. }
        | InputError::NotARun(_)
        | InputError::OpenRecording(_)
        | InputError::TooManyFiles { .. } => ErrorKind::WrongFile,
        InputError::NotASnapshot { .. } => ErrorKind::DamagedFile,
        InputError::NothingInFolder { .. } => ErrorKind::NothingToRead,
    }
}

fn kind_of_lint(error: &LintError) -> ErrorKind {
    match error {
        LintError::NothingThere(_) => ErrorKind::NoSuchFile,
        LintError::NothingToLint(_) => ErrorKind::NothingToRead,
        LintError::Pattern { .. } => ErrorKind::BadArguments,
        LintError::Settings { .. } | LintError::Baseline { .. } => ErrorKind::WrongFile,
        LintError::NoBaseline(_) => ErrorKind::UnwritableFile,
    }
}

fn kind_of_tune(error: &TuneError) -> ErrorKind {
    match error {
        TuneError::Text(_) => ErrorKind::WrongFile,
        TuneError::NoHistory(_) => ErrorKind::NothingToRead,
        TuneError::NotReplayable { .. } => ErrorKind::DamagedFile,
        TuneError::NoSuchEvent { .. } | TuneError::NoSteps => ErrorKind::BadArguments,
        TuneError::Interrupted => ErrorKind::Interrupted,
    }
}

fn file_of_run(error: &base::Error) -> Option<&Path> {
    use base::Error as Run;
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
        | InputError::OpenRecording(path)
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
