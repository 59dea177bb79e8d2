//! `oomph explain`: reads the files of a crash and explains why memory ran out.

use std::io::IsTerminal;
use std::path::Path;

use diagnose::{ExplainCase, Real};
use drive::run_dir;
use report::explain::ExplainVerdict;
use report::render::terminal::Detail;
use report::render::{Format, html};
use trace::Launch;

use super::now;
use crate::args::{Explain, help_of};
use crate::effects::publish;
use crate::environment::current_folder;
use crate::error::{Error, InputError};
use crate::exit::ExitStatus;
use crate::{artifacts, lint_links, output};

/// Reads, explains and prints.
pub(crate) fn run(arguments: &Explain) -> Result<ExitStatus, Error> {
    if let Some(pid) = arguments.pid {
        return now::show_process(pid);
    }
    if arguments.files.is_empty() && std::io::stdin().is_terminal() {
        if arguments.output.format.chosen() == Format::Json {
            return Err(Error::from(InputError::NothingNamed));
        }
        output::help(&mut help_of("explain"));
        return Ok(ExitStatus::Failed);
    }
    if let Some((folder, launched)) = find_real_run(arguments)? {
        if launched.ended.is_none() && !Real::of(&run_dir::read(folder)?, &launched).is_explained() {
            return now::show_folder(folder);
        }
        let end = super::run::explain(folder, &launched, &[], arguments.verbose)?;
        return Ok(if super::run::is_of_use(&end) { ExitStatus::Found } else { ExitStatus::Fits });
    }
    if let Some(folders) = find_two_runs(arguments)? {
        return super::against::explain(folders, arguments);
    }
    let case = ExplainCase {
        inputs: artifacts::read(&arguments.files)?,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        folder: current_folder(),
    };
    let explanation = diagnose::explain(&case);
    let links = lint_links::find(explanation.findings(), &case.folder, None);
    let report = explanation.report(links);
    if let Some(path) = &arguments.output.html {
        publish::write_whole(path, &html::explain(&report))?;
    }
    let detail = if arguments.verbose { Detail::Full } else { Detail::Brief };
    output::show(&report, arguments.output.format.chosen(), detail)?;
    Ok(status(report.verdict()))
}

/// The only input, if it is a real run and the answer is for people.
fn find_real_run(arguments: &Explain) -> Result<Option<(&Path, Launch)>, Error> {
    let [folder] = arguments.files.as_slice() else { return Ok(None) };
    let is_for_people = arguments.output.html.is_none() && arguments.output.format.chosen() == Format::Terminal;
    if !is_for_people || !run_dir::is_run(folder) {
        return Ok(None);
    }
    let launched = run_dir::read_launch(folder)?;
    Ok(launched.is_real().then_some((folder, launched)))
}

/// The only inputs, if they are two recorded runs and no page is asked for.
fn find_two_runs(arguments: &Explain) -> Result<Option<[&Path; 2]>, Error> {
    let [a, b] = arguments.files.as_slice() else { return Ok(None) };
    let folders = [a.as_path(), b.as_path()];
    let count = folders.iter().filter(|folder| run_dir::is_run(folder)).count();
    if count == 1
        && let Some(folder) = folders.into_iter().find(|folder| folder.is_dir() && !run_dir::is_run(folder))
    {
        return Err(Error::from(InputError::NotARun(folder.to_owned())));
    }
    Ok((count == 2 && arguments.output.html.is_none()).then_some(folders))
}

/// Texts without an error and without a table are not what `explain` reads.
fn status(verdict: ExplainVerdict) -> ExitStatus {
    match verdict {
        ExplainVerdict::Oom | ExplainVerdict::Found => ExitStatus::Found,
        ExplainVerdict::Clean => ExitStatus::Fits,
        ExplainVerdict::NothingToExplain => ExitStatus::Failed,
    }
}
