//! `oomph explain`: reads the files of a crash and explains why memory ran out.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use diagnose::ExplainCase;
use drive::run_dir;
use report::explain::ExplainVerdict;
use report::render::{Format, html};
use trace::Launch;

use super::answer::deliver;
use super::{against, now, real_run};
use crate::args::{Explain, help_of};
use crate::effects::publish;
use crate::environment::current_folder;
use crate::error::{Error, InputError};
use crate::exit::ExitStatus;
use crate::{artifacts, lint_links, output};

/// The input of `explain`, whose kind decides the analysis.
enum Subject<'a> {
    /// A running program.
    Process(u32),
    /// A recorded real run.
    Run(&'a Path, Launch),
    /// Two recorded runs.
    Runs([&'a Path; 2]),
    /// Logs, snapshots, tables, and the recording of a dry run.
    Files,
}

/// Reads, explains and prints.
pub(crate) fn run(arguments: &Explain) -> Result<ExitStatus, Error> {
    if arguments.pid.is_none() && arguments.files.is_empty() && std::io::stdin().is_terminal() {
        if arguments.output.format.chosen() == Format::Json {
            return Err(Error::from(InputError::NothingNamed));
        }
        output::help(&mut help_of("explain"));
        return Ok(ExitStatus::Failed);
    }
    let pages: Vec<&Path> = arguments.output.html.iter().map(PathBuf::as_path).collect();
    publish::check_apart(&pages)?;
    match find_subject(arguments)? {
        Subject::Process(pid) => now::show_process(pid, arguments),
        Subject::Run(folder, launched) if real_run::is_open(folder, &launched)? => now::show_folder(folder, arguments),
        Subject::Run(folder, launched) => explain_run(folder, &launched, arguments),
        Subject::Runs(folders) => against::explain(folders, arguments),
        Subject::Files => explain_files(arguments),
    }
}

fn find_subject(arguments: &Explain) -> Result<Subject<'_>, Error> {
    if let Some(pid) = arguments.pid {
        return Ok(Subject::Process(pid));
    }
    match arguments.files.as_slice() {
        [folder] if run_dir::is_run(folder) => {
            let launched = run_dir::read_launch(folder)?;
            Ok(if launched.is_real() { Subject::Run(folder, launched) } else { Subject::Files })
        }
        [a, b] if run_dir::is_run(a) && run_dir::is_run(b) => Ok(Subject::Runs([a, b])),
        [a, b] if run_dir::is_run(a) && b.is_dir() => Err(InputError::NotARun(b.clone()).into()),
        [a, b] if a.is_dir() && run_dir::is_run(b) => Err(InputError::NotARun(a.clone()).into()),
        _ => Ok(Subject::Files),
    }
}

fn explain_run(folder: &Path, launched: &Launch, arguments: &Explain) -> Result<ExitStatus, Error> {
    let (report, picture) = real_run::explain(folder, launched, &[], arguments.output.html.is_some())?;
    deliver(&report, || html::run(&report, &picture), arguments)?;
    Ok(if report.is_of_use() { ExitStatus::Found } else { ExitStatus::Fits })
}

fn explain_files(arguments: &Explain) -> Result<ExitStatus, Error> {
    let case = ExplainCase {
        inputs: artifacts::read(&arguments.files)?,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        folder: current_folder(),
    };
    let explanation = diagnose::explain(&case);
    let links = lint_links::find(explanation.findings(), &case.folder, None);
    let report = explanation.report(links);
    deliver(&report, || html::explain(&report), arguments)?;
    Ok(status(report.verdict()))
}

/// Texts without an error and without a table are not what `explain` reads.
fn status(verdict: ExplainVerdict) -> ExitStatus {
    match verdict {
        ExplainVerdict::Oom | ExplainVerdict::Found => ExitStatus::Found,
        ExplainVerdict::Clean => ExitStatus::Fits,
        ExplainVerdict::NothingToExplain => ExitStatus::Failed,
    }
}
