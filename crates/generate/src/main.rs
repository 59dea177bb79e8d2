//! Writes all files, and parts of files, that follow from a table: `make generate`. With `--check` (`make generate CHECK=1`, a part of
//! `make lint`) nothing is written: each stale file is printed, and the exit status is 1. With `--share FOLDER` (`make share`) it writes the
//! man pages and the completions of a wheel there, and nothing else.
//!
//! A generator is a file of this crate with a function that returns [`Output`]s; `list_outputs` calls each.
//!
//! # Note `[Stages]`
//! `lint`, `patch` and `diagnose` contain generated lists of their modules. A list that names a deleted file does not compile, and a page
//! written from the old list lacks the new rule. `make generate` therefore runs twice: without the feature `pages` first, which
//! compiles none of these crates and writes the sources; then with it, which writes the pages and the JSON schemas from the new sources.
#![expect(clippy::format_collect, reason = "a generated text is short, and its speed does not matter")]

mod actions;
mod agent_contract;
mod agent_records;
mod causes;
#[cfg(feature = "pages")]
mod command_line;
mod error;
mod lint_modules;
#[cfg(feature = "pages")]
mod lint_pages;
#[cfg(feature = "pages")]
mod man;
mod output;
#[cfg(feature = "pages")]
mod reference;
mod remedy_lists;
#[cfg(feature = "pages")]
mod schemas;
#[cfg(feature = "pages")]
mod share;
mod variables;

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs, io};

use crate::error::GenerateError;
use crate::output::Output;

/// The workspace.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    #[cfg(feature = "pages")]
    if let [option, folder] = words.as_slice()
        && option == "--share"
    {
        return finish(share::write(Path::new(folder)).map(|()| 0));
    }
    let is_check = words.iter().any(|word| word == "--check");
    let stale = list_outputs().and_then(|outputs| apply_all(&outputs, is_check));
    finish(stale.map(|stale| if is_check { stale } else { 0 }))
}

/// Prints an error. The exit status is 0 without a problem.
fn finish(problems: Result<usize, GenerateError>) -> ExitCode {
    match problems {
        Ok(problems) => ExitCode::from(u8::from(problems > 0)),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The outputs of all generators, sources before pages.
fn list_outputs() -> Result<Vec<Output>, GenerateError> {
    let mut outputs = vec![
        agent_contract::write(),
        agent_records::write(),
        variables::write(),
        actions::write(),
        lint_modules::write()?,
    ];
    outputs.extend(remedy_lists::write());
    outputs.extend(causes::write()?);
    #[cfg(feature = "pages")]
    outputs.extend([lint_pages::write(), command_line::write()]);
    #[cfg(feature = "pages")]
    outputs.extend(schemas::write());
    Ok(outputs)
}

/// Writes each stale file, or only prints its name. Returns the number of stale files.
fn apply_all(outputs: &[Output], is_check: bool) -> Result<usize, GenerateError> {
    let mut stale = 0;
    for output in outputs {
        let path = Path::new(ROOT).join(output.path);
        let current = read(&path)?;
        let text = output.apply(&current)?;
        if text == current {
            continue;
        }
        stale += 1;
        if is_check {
            eprintln!("{}:{} is stale: run `make generate`", output.path, first_difference(&current, &text));
        } else {
            fs::write(&path, text).map_err(|source| GenerateError::Io { path, source })?;
            println!("wrote {}", output.path);
        }
    }
    Ok(stale)
}

/// Returns the text of a file; a missing file is empty.
fn read(path: &Path) -> Result<String, GenerateError> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        read => read.map_err(|source| GenerateError::Io { path: path.to_owned(), source }),
    }
}

/// The number of the first line at which two texts differ.
fn first_difference(one: &str, other: &str) -> usize {
    one.lines().zip(other.lines()).take_while(|(one, other)| one == other).count() + 1
}
