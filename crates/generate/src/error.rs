//! The errors of generators.

use std::io;
use std::path::PathBuf;

/// The failure of a generator.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GenerateError {
    /// A file could not be read or written.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file lacks the lines around its generated part.
    #[error("{path}: expected a line `{mark}`")]
    NoMark {
        /// The path from the workspace.
        path: &'static str,
        /// The missing line, without the signs of a comment.
        mark: String,
    },
    /// A rule's file does not open with the row of its cause.
    #[error("{path}: expected the row of a cause in the first lines, as in caught_oom.rs", path = path.display())]
    NoRow {
        /// The file.
        path: PathBuf,
    },
}
