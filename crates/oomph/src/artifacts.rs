//! Reads the files, folders and standard input that the user names after a crash.
//!
//! The content of a file tells its kind; the name tells only the rank.

mod contents;
mod folder;
mod rank;
mod source;

use std::path::{Path, PathBuf};

use diagnose::ExplainInput;
use source::{NamedInput, OpenInput};

use crate::error::{Error, InputError};

/// The name of standard input on the command line.
const STANDARD_INPUT: &str = "-";

/// Reads all inputs; standard input if none was named.
pub(crate) fn read(names: &[PathBuf]) -> Result<Vec<ExplainInput>, Error> {
    let standard = [PathBuf::from(STANDARD_INPUT)];
    let names = if names.is_empty() { &standard } else { names };
    check_repetition(names)?;
    let mut inputs = Vec::new();
    for name in names {
        inputs.extend(read_named(name)?);
    }
    Ok(inputs)
}

/// Refuses names that occur twice: a snapshot would be compared with itself, and standard input can be read once.
fn check_repetition(names: &[PathBuf]) -> Result<(), Error> {
    let again = names.iter().enumerate().find(|(index, name)| names[..*index].contains(name));
    again.map_or(Ok(()), |(_, name)| Err(Error::from(InputError::NamedTwice(name.clone()))))
}

fn read_named(name: &Path) -> Result<Vec<ExplainInput>, Error> {
    match source::kind_of(name)? {
        NamedInput::Folder => folder::read(name),
        NamedInput::File => Ok(vec![read_file(name, source::open(name)?)?]),
        NamedInput::StandardInput => Ok(vec![read_file(name, source::standard_input())?]),
    }
}

/// Reads a file that the user named, which must have a known format.
fn read_file(name: &Path, source: OpenInput) -> Result<ExplainInput, Error> {
    let contents = contents::accept(name, contents::read(name, source)?)?;
    Ok(input(name, contents))
}

fn input(name: &Path, contents: diagnose::InputContents) -> ExplainInput {
    ExplainInput { path: name.to_string_lossy().into_owned(), rank: rank::of(name), contents }
}
