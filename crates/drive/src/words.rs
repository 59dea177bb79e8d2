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

    /// The words as a shell reads them; after `--` if they are a command line.
    pub fn quoted(&self) -> Vec<String> {
        let (dashes, words) = match self {
            Words::Script(words) => (None, words),
            Words::CommandLine(words) => (Some("--".to_owned()), words),
        };
        dashes.into_iter().chain(words.iter().map(|word| quote(&word.to_string_lossy()))).collect()
    }

    /// The script; `None` for a command line.
    pub fn script(&self) -> Option<&Path> {
        match self {
            Words::Script(words) => words.first().map(Path::new),
            Words::CommandLine(_) => None,
        }
    }
}

/// Quotes a word for a POSIX shell, where that is needed.
pub fn quote(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:,+@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_change_them() {
        let words = ["train.py", "--lr=1e-4", "an argument", "", "it's", "$HOME"].map(OsString::from).to_vec();
        let quoted = ["train.py", "--lr=1e-4", "'an argument'", "''", r"'it'\''s'", "'$HOME'"];
        assert_eq!(Words::Script(words.clone()).quoted(), quoted);
        assert_eq!(Words::CommandLine(words).quoted()[0], "--");
    }
}
