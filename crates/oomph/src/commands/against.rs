//! Two recorded runs, compared: `oomph explain A B`, and the end of `oomph run --against`.

use std::path::Path;

use base::run_dir;
use diagnose::{AgainstCase, AgainstRun, against};
use report::against::AgainstReport;
use report::render::html;
use report::render::terminal::Detail;

use super::answer::deliver;
use crate::args::{Explain, Run};
use crate::environment::current_folder;
use crate::error::{Error, InputError};
use crate::exit::ExitStatus;
use crate::output;

/// Reads a recorded run.
pub(super) fn read(folder: &Path) -> Result<AgainstRun, Error> {
    if !run_dir::is_run(folder) {
        return Err(Error::from(InputError::NotARun(folder.to_owned())));
    }
    let (run, launch) = (run_dir::read(folder)?, run_dir::read_launch(folder)?);
    Ok(AgainstRun { path: folder.to_string_lossy().into_owned(), run, launch })
}

/// Compares two folders, and prints the answer.
pub(super) fn explain([a, b]: [&Path; 2], arguments: &Explain) -> Result<ExitStatus, Error> {
    let report = compare([read(a)?, read(b)?]);
    deliver(&report, || html::against(&report), arguments)?;
    Ok(if report.is_equal() { ExitStatus::Fits } else { ExitStatus::Found })
}

/// Compares the run that just ended with an earlier one, on standard error.
pub(super) fn say(before: AgainstRun, folder: &Path, arguments: &Run) -> Result<(), Error> {
    let mut now = read(folder)?;
    if arguments.save.is_none() {
        "this run".clone_into(&mut now.path);
    }
    output::say("");
    output::say_report(&compare([before, now]), detail(arguments.verbose))
}

fn compare(runs: [AgainstRun; 2]) -> AgainstReport {
    let (version, folder) = (env!("CARGO_PKG_VERSION").to_owned(), current_folder());
    against(&AgainstCase { runs, version, folder })
}

fn detail(is_verbose: bool) -> Detail {
    if is_verbose { Detail::Full } else { Detail::Brief }
}
