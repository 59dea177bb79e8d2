//! Failures of a call: a sentence each, with the next step.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// The failure of a call, whose text the agent reads.
#[derive(Debug, Error)]
pub(crate) enum CallError {
    #[error("wrong arguments: {0}")]
    Arguments(#[from] serde_json::Error),
    #[error("{field} has a null character")]
    NullCharacter { field: &'static str },
    #[error("there is no `{path}` in {}; name a path relative to this folder", folder.display())]
    NotThere { path: String, folder: PathBuf },
    #[error(
        "`{path}` is outside of {}, and nothing outside is read; copy the file into this folder, or let the server be started with another --folder",
        folder.display()
    )]
    Outside { path: String, folder: PathBuf },
    #[error("`{path}` is {kind}; name a {wanted}")]
    OtherKind { path: String, kind: &'static str, wanted: &'static str },
    #[error("cannot read `{path}`: {source}")]
    Unreadable { path: String, source: io::Error },
    #[error("`{path}` has more than {most} entries; name the files themselves")]
    TooLarge { path: String, most: usize },
    #[error(
        "the Python `{path}` is neither in {} nor the one that the server was started with (--python); name an environment of this folder, such as `.venv/bin/python`, or leave `python` out",
        folder.display()
    )]
    OtherPython { path: String, folder: PathBuf },
    #[error("nothing to explain: set `text` to the error, or `paths` to the files")]
    NothingToExplain,
    #[error("cannot start `oomph {command}`: {source}")]
    NotStarted { command: String, source: io::Error },
    #[error("`oomph {command}` ended without an answer ({status}){said}")]
    NoAnswer { command: String, status: String, said: String },
    #[error("the call was cancelled")]
    Cancelled,
}

/// The failure of the whole server.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The folder does not exist, or is none.
    #[error("`{}` is no folder: {source}", folder.display())]
    Folder {
        /// The folder as it was given.
        folder: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The system starts no thread, or has no more descriptors.
    #[error("cannot serve: {0}")]
    System(#[from] io::Error),
}
