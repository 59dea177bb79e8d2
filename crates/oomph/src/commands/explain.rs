//! `oomph explain`: reads the files of a crash and explains why memory ran out.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use base::run_dir;
use report::render::{Format, html};
use trace::Launch;

use super::answer::{deliver, explain_inputs};
use super::{against, linux, real_run};
use crate::args::{Explain, help_of};
use crate::effects::publish;
use crate::error::{Error, InputError};
use crate::exit::ExitStatus;
use crate::{artifacts, output};

/// The input of `explain`, whose kind decides the analysis.
enum Subject<'a> {
    /// A running program.
    Process(u32),
    /// A job of Slurm.
    Job(&'a str),
    /// A recorded real run.
    Run(&'a Path, Launch),
    /// Two recorded runs.
    Runs([&'a Path; 2]),
    /// Logs, snapshots, tables, and the recording of a dry run.
    Files,
}

/// Reads, explains and prints.
pub(crate) fn run(arguments: &Explain) -> Result<ExitStatus, Error> {
    if arguments.pid.is_none()
        && arguments.slurm_job.is_none()
        && arguments.files.is_empty()
        && std::io::stdin().is_terminal()
    {
        if arguments.output.format.chosen() == Format::Json {
            return Err(Error::from(InputError::NothingNamed));
        }
        output::help(&mut help_of("explain"));
        return Ok(ExitStatus::Failed);
    }
    let pages: Vec<&Path> = arguments.output.html.iter().map(PathBuf::as_path).collect();
    publish::check_apart(&pages)?;
    match find_subject(arguments)? {
        Subject::Job(id) => linux::explain_job(id, arguments),
        Subject::Process(pid) => linux::show_process(pid, arguments),
        Subject::Run(folder, launched) if real_run::is_open(folder, &launched)? => {
            linux::show_folder(folder, arguments)
        }
        Subject::Run(folder, launched) => explain_run(folder, &launched, arguments),
        Subject::Runs(folders) => against::explain(folders, arguments),
        Subject::Files => explain_files(arguments),
    }
}

fn find_subject(arguments: &Explain) -> Result<Subject<'_>, Error> {
    if let Some(pid) = arguments.pid {
        return Ok(Subject::Process(pid));
    }
    if let Some(id) = &arguments.slurm_job {
        return Ok(Subject::Job(id));
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
    explain_inputs(artifacts::read(&arguments.files)?, None, arguments)
}
