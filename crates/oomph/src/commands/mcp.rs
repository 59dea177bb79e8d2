//! `oomph mcp`: serves an agent, whose calls are commands of this binary.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use drive::process::launch;
use mcp::{ServeEnd, ServeError, ServerSettings, serve};
use wire::variable;

use crate::args::Mcp;
use crate::error::Error;
use crate::exit::ExitStatus;

/// Serves the client at standard input and output.
pub(crate) fn run(arguments: &Mcp) -> Result<ExitStatus, Error> {
    let settings = ServerSettings {
        program: std::env::current_exe().map_err(Error::Serve)?,
        folder: arguments.folder.clone(),
        python: arguments.python.as_deref().map(locate).transpose().map_err(Error::Serve)?,
        version: env!("CARGO_PKG_VERSION"),
        prepare,
    };
    Ok(match serve(&settings).map_err(describe)? {
        ServeEnd::Closed => ExitStatus::Fits,
        ServeEnd::Signal(signal) => ExitStatus::of_signal(signal),
    })
}

fn describe(error: ServeError) -> Error {
    match error {
        ServeError::Folder { folder, source } => Error::NoServedFolder { folder, source },
        ServeError::System(source) => Error::Serve(source),
    }
}

/// Commands run in another folder. A name without a folder is looked up by each command.
fn locate(python: &Path) -> io::Result<PathBuf> {
    if python.components().count() > 1 { std::path::absolute(python) } else { Ok(python.to_owned()) }
}

/// The command ends with the server, reads no source outside of its folder, and tells of its progress, which it keeps from agents otherwise.
fn prepare(command: &mut Command) {
    launch::tie(command);
    if let Some(folder) = command.get_current_dir().map(Path::to_owned) {
        command.env(variable::SOURCES, folder);
    }
    command.env(variable::AGENT, "0");
}
