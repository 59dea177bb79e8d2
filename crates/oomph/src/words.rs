//! The words on the command line that start a program.

use std::ffi::OsString;
use std::path::Path;

/// The words that start a program.
#[derive(Clone, Debug)]
pub(crate) enum Words {
    /// A script and its arguments; oomph chooses the Python.
    Script(Vec<OsString>),
    /// A whole command line.
    CommandLine(Vec<OsString>),
}

impl Words {
    /// `after_dashes`: the words were written after a `--`.
    pub(crate) fn new(words: Vec<OsString>, after_dashes: bool) -> Words {
        if after_dashes { Words::CommandLine(words) } else { Words::Script(words) }
    }

    /// The script; `None` for a command line.
    pub(crate) fn script(&self) -> Option<&Path> {
        match self {
            Words::Script(words) => words.first().map(Path::new),
            Words::CommandLine(_) => None,
        }
    }
}
