//! The words on the command line that start a program.

use std::ffi::OsString;
use std::path::Path;

/// The words that start a program.
#[derive(Clone, Debug)]
pub enum Words {
    /// A script and its arguments; oomph chooses the Python.
    Script(Vec<OsString>),
    /// A whole command line.
    CommandLine(Vec<OsString>),
}

impl Words {
    /// `after_dashes`: the words were written after a `--`.
    pub fn new(words: Vec<OsString>, after_dashes: bool) -> Words {
        if after_dashes { Words::CommandLine(words) } else { Words::Script(words) }
    }

    /// The words of oomph's own command line, after `--` if they are a command line.
    pub fn to_list(&self) -> Vec<String> {
        let (dashes, words) = match self {
            Words::Script(words) => (None, words),
            Words::CommandLine(words) => (Some("--".to_owned()), words),
        };
        dashes.into_iter().chain(words.iter().map(|word| word.to_string_lossy().into_owned())).collect()
    }

    /// The script; `None` for a command line.
    pub fn script(&self) -> Option<&Path> {
        match self {
            Words::Script(words) => words.first().map(Path::new),
            Words::CommandLine(_) => None,
        }
    }
}
