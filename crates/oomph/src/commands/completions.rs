//! `oomph completions`: prints the script that completes oomph's command line in a shell.

use crate::args;
use crate::error::Error;
use crate::exit::ExitStatus;
use crate::output;

/// Prints the script.
pub(crate) fn run(arguments: &args::Completions) -> Result<ExitStatus, Error> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut args::define_completed(), "oomph", &mut script);
    output::verbatim(&String::from_utf8_lossy(&script))?;
    Ok(ExitStatus::Fits)
}
