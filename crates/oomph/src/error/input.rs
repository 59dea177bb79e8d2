//! Errors about the files that `explain` and `tune` read.

use std::path::PathBuf;

use report::words::count;
use thiserror::Error;

/// Why a file or a folder cannot be read.
#[derive(Debug, Error)]
pub(crate) enum InputError {
    #[error("no file was named, and standard input is a terminal")]
    NothingNamed,
    #[error("there is no file `{}`", .0.display())]
    NoFile(PathBuf),
    #[error("`{}` was named twice", .0.display())]
    NamedTwice(PathBuf),
    #[error("`{}` is empty: expected a log, a snapshot or a table", .0.display())]
    Empty(PathBuf),
    #[error("`{}` is neither a snapshot nor a text: it starts with the bytes {}", path.display(), hexadecimal(start))]
    Foreign { path: PathBuf, start: Vec<u8> },
    #[error("`{}` cannot be read as a snapshot: {problem}", path.display())]
    NotASnapshot { path: PathBuf, problem: String },
    #[error("`{}` is {kind}: expected a file, a pipe or a folder", path.display())]
    Device { path: PathBuf, kind: &'static str },
    #[error("nothing in the folder `{}` shows an error: expected logs or snapshots, found {}", folder.display(), count(*files, "file", "files"))]
    NothingInFolder { folder: PathBuf, files: usize },
    #[error("`{}` is no recorded run: expected a folder with the file `{}`", .0.display(), wire::file::LAUNCH)]
    NotARun(PathBuf),
    #[error("`{}` holds more than {limit} files: expected the files of one job", folder.display())]
    TooManyFiles { folder: PathBuf, limit: usize },
    #[cfg_attr(target_os = "linux", expect(dead_code, reason = "Linux reads the recording"))]
    #[error("the recording in `{}` has no end: the figures of a running or killed program are read on Linux alone", .0.display())]
    OpenRecording(PathBuf),
}

impl InputError {
    /// Returns the next step for the user.
    pub(super) fn hint(&self) -> &'static str {
        match self {
            InputError::NothingNamed | InputError::NoFile(_) => {
                "name a log or a snapshot; `-` is standard input, and `oomph explain --help` has examples"
            }
            InputError::NamedTwice(_) => "two snapshots are compared: name two different ones, or one alone",
            InputError::Empty(_) => {
                "errors are printed on standard error: `python train.py 2>&1 | oomph explain` passes them on"
            }
            InputError::Foreign { .. } => {
                "a snapshot is what torch.cuda.memory._dump_snapshot(\"snapshot.pickle\") writes; a log is any text"
            }
            InputError::NotASnapshot { .. } => {
                "was it written to its end, and copied whole? Snapshots come from torch.cuda.memory._dump_snapshot(FILE)"
            }
            InputError::Device { .. } => "name the file that the program's output went to",
            InputError::NothingInFolder { .. } => "name the log or the snapshot itself for its content",
            InputError::NotARun(_) => "`oomph run --save DIR` and `oomph check --save DIR` record a run",
            InputError::OpenRecording(_) => {
                "run `oomph explain` of the folder on Linux; the log of the program is read here, too"
            }
            InputError::TooManyFiles { .. } => {
                "name the folder of the job's logs and snapshots, or the files themselves"
            }
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    bytes.join(" ")
}
