//! What a crash left, as the user names it: files, folders and standard input, opened and read as what they hold.
//!
//! What a file is, is told by its content; its name tells the rank at most.

mod contents;
mod folder;
mod rank;
mod source;

use std::path::{Path, PathBuf};

use diagnose::ExplainInput;

use crate::error::Error;
use contents::Read;
use source::{Place, Source};

/// Standard input, as it is named on a command line.
const STANDARD_INPUT: &str = "-";

/// Reads everything that was named; standard input where nothing was.
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

/// What was named twice would be compared with itself; standard input is empty the second time.
fn check_repetition(names: &[PathBuf]) -> Result<(), Error> {
    let again = names.iter().enumerate().find(|(index, name)| names[..*index].contains(name));
    again.map_or(Ok(()), |(_, name)| Err(Error::NamedTwice(name.clone())))
}

fn read_named(name: &Path) -> Result<Vec<ExplainInput>, Error> {
    match source::look(name)? {
        Place::Folder => folder::read(name),
        Place::File => Ok(vec![read_file(name, source::open(name)?)?]),
        Place::StandardInput => Ok(vec![read_file(name, source::standard_input())?]),
    }
}

/// A file that was named must hold something that oomph knows.
fn read_file(name: &Path, source: Source) -> Result<ExplainInput, Error> {
    match contents::read(name, source)? {
        Read::Known(contents) => Ok(input(name, contents)),
        Read::Empty => Err(Error::Empty(name.to_owned())),
        Read::Foreign { start } => Err(Error::Foreign { path: name.to_owned(), start }),
    }
}

fn input(name: &Path, contents: diagnose::Contents) -> ExplainInput {
    ExplainInput { path: name.to_string_lossy().into_owned(), rank: rank::of(name), contents }
}
