//! The error of a command as JSON. The serialised form is a contract (docs/schema/README.md): keys and kinds are added, never renamed.

use serde::Serialize;

use crate::document::to_text;
use crate::sanitize::clean;

/// The document of a command that could not do its work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ErrorDocument {
    /// The error.
    pub error: CommandError,
}

/// An error, and the next step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommandError {
    /// The kind, for programs.
    pub kind: ErrorKind,
    /// The error in a sentence, as standard error has it.
    pub message: String,
    /// The file that the error is about, or the file of the program's line; `None` if unknown.
    pub file: Option<String>,
    /// The line, counted from 1; `None` if unknown.
    pub line: Option<u32>,
    /// The next step in a sentence; `None` without one.
    pub hint: Option<String>,
    /// The words of the next command, without quotes; `None` without one.
    pub next: Option<Vec<String>>,
    /// The last output of the program that failed; `None` if no program printed anything.
    pub output: Option<String>,
}

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The command line has a wrong option or value.
    BadArguments,
    /// No GPU, remedy or rule has the given name.
    UnknownName,
    /// The named file or folder does not exist.
    NoSuchFile,
    /// The system refuses to read a file.
    UnreadableFile,
    /// A file is of another kind than expected, or empty.
    WrongFile,
    /// A file is of the expected kind, and cut off or changed.
    DamagedFile,
    /// The system refuses to write a file, or the file must not be replaced.
    UnwritableFile,
    /// The changes of a plan were not made: the user said no, nobody could be asked, or a file had changed.
    NotApplied,
    /// The input has nothing to answer about, such as a snapshot without a history.
    NothingToRead,
    /// No process has the number, or the process is not recorded.
    NoSuchProcess,
    /// The system refuses access to a process.
    NoPermission,
    /// The Python cannot be started, or is none.
    NoPython,
    /// The Python has no PyTorch.
    NoTorch,
    /// The PyTorch is of an unknown version, or was built without CUDA.
    UnsupportedTorch,
    /// The program cannot be started.
    NoProgram,
    /// The program raised an exception, or ended with a status or by a signal, before a verdict was possible.
    ProgramFailed,
    /// The program ran to its end without a use of CUDA.
    NoCuda,
    /// The program was stopped before its first use of CUDA.
    ProgramStopped,
    /// The program asks for more memory than any device has.
    ProgramRanOut,
    /// The batch size of the program was not found.
    NoBatchSize,
    /// The NVIDIA driver is missing, or does not answer.
    NoDriver,
    /// The system has no folder for the phantom GPU.
    NoCache,
    /// A signal such as Ctrl-C ended the command.
    Interrupted,
    /// The system refuses something else.
    System,
    /// A bug of oomph.
    Bug,
}

impl CommandError {
    /// Writes the error as an indented JSON object with a newline at its end. Foreign names are clean, as on a terminal.
    pub fn write(mut self) -> Result<String, serde_json::Error> {
        self.message = clean_lines(&self.message);
        self.hint = self.hint.as_deref().map(clean_lines);
        to_text(&ErrorDocument { error: self })
    }
}

/// Escapes control characters, except line breaks.
pub fn clean_lines(text: &str) -> String {
    text.split('\n').map(clean).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_an_object_whose_unknown_parts_are_null() {
        let failure = CommandError {
            kind: ErrorKind::NoSuchFile,
            message: "there is no file `a\u{1b}.py`".to_owned(),
            file: Some("a\u{1b}.py".to_owned()),
            line: None,
            hint: None,
            next: None,
            output: None,
        };
        let written = failure.write().unwrap_or_default();
        let document: serde_json::Value = serde_json::from_str(&written).unwrap_or_default();
        let expected = serde_json::json!({"error": {
            "kind": "no_such_file", "message": "there is no file `a\\x1b.py`", "file": "a\u{1b}.py", "line": null, "hint": null,
            "next": null, "output": null,
        }});
        assert_eq!(document, expected);
    }
}
