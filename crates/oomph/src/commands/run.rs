//! `oomph run`: a real run, recorded, and explained when it dies.

mod retry;
mod search;
mod stop;
mod trackers;
mod watching;

use std::cell::Cell;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

use base::Words;
use diagnose::AgainstRun;
use drive::dry_run::program;
use drive::process::attended::Attendant;
use drive::process::host::HostWatch;
use drive::process::launch;
use drive::unpack::Unpacked;
use drive::{run_folder, start_error, unpack};
use report::real_run::RunReport;
use report::render::terminal::{Detail, Look};
use report::render::{html, named, render};
use report::{Change, RunPicture};
use run::environment::{of_part_of_real, of_real, of_unrecorded};
use run::{Conditions, Folders, RunSpec};
use trace::Launch;
use trace::run::Ended;

use self::watching::{Outlets, Watching};
use super::{against, real_run};
use crate::args::{MetricsTarget, ReportKind, Run};
use crate::effects::publish;
use crate::environment::{is_in_real_run, slurm_job};
use crate::error::Error;
use crate::exit::ExitStatus;
use crate::{failure, forecast, output};

/// Runs the program, and explains its end.
pub(crate) fn run(arguments: &Run, after_dashes: bool) -> Result<ExitStatus, Error> {
    let words = Words::new(arguments.program.clone(), after_dashes);
    let words = program::real_command(&words, arguments.python.as_deref())?;
    if is_in_real_run() {
        return Err(become_part(&words, arguments));
    }
    // A wrong file or folder is an error before the program starts.
    check_outputs(arguments)?;
    let before = arguments.against.as_deref().map(against::read).transpose()?;
    let outlets = Outlets::open(arguments, &words)?;
    let attendant = Attendant::new()?;
    let (folder, unpacked) = match prepare(arguments) {
        Ok(prepared) => prepared,
        Err(problem) if is_recording_asked_for(arguments) => return Err(problem),
        Err(problem) => return run_unrecorded(&words, &attendant, &problem),
    };
    let spec = RunSpec::real(words);
    let runner = Runner { arguments, unpacked, spec, attendant, before: Cell::new(before) };
    if !arguments.changes.is_empty() {
        output::say(&format!("oomph: runs with {}", named(&arguments.changes)));
    }
    forecast::warn(&runner.spec.command, &arguments.changes);
    let first = runner.run(folder, &arguments.changes, outlets)?;
    Ok(ExitStatus::Programs(retry::retry(&runner, first)))
}

/// Makes the folder of the recording, and unpacks the agent.
fn prepare(arguments: &Run) -> Result<(PathBuf, Unpacked), Error> {
    let folder = run_folder::make_lasting(arguments.save.as_deref())?;
    let unpacked = unpack::unpack_for(&folder);
    if unpacked.is_err() && arguments.save.is_none() {
        run_folder::remove(&folder);
    }
    Ok((folder, unpacked?))
}

/// True if the user has named what only a recorded run has. In any other case the program comes first.
fn is_recording_asked_for(arguments: &Run) -> bool {
    arguments.save.is_some() || arguments.report.is_some() || !arguments.changes.is_empty()
}

/// Checks the files that oomph is asked to write.
fn check_outputs(arguments: &Run) -> Result<(), Error> {
    let metrics = match &arguments.metrics {
        Some(MetricsTarget::File(path)) => Some(path),
        Some(MetricsTarget::Address(_)) | None => None,
    };
    if let Some(path) = &arguments.report {
        publish::check_writable(path)?;
        publish::check_apart(&[Some(path), metrics].into_iter().flatten().map(PathBuf::as_path).collect::<Vec<_>>())?;
    }
    Ok(())
}

/// Runs the program as if oomph were not there.
fn run_unrecorded(words: &[OsString], attendant: &Attendant, problem: &Error) -> Result<ExitStatus, Error> {
    output::say(&format!("oomph: nothing is recorded: {problem}; the program runs as without oomph"));
    let mut command = launch::command(words)?;
    launch::set_environment(&mut command, &of_unrecorded());
    Ok(ExitStatus::Programs(status_of(&attendant.attend(&mut command, None)?)))
}

/// Becomes the program, with its changes: the outer `oomph run` records, and explains the end. Returns only if that fails.
fn become_part(words: &[OsString], arguments: &Run) -> Error {
    if arguments.retry.is_some() {
        output::say("oomph: no retry: another `oomph run` runs this one");
    }
    if arguments.report.is_some() {
        output::say("oomph: no report: another `oomph run` runs this one");
    }
    if !arguments.log_to.is_empty() {
        output::say("oomph: no figures for a tracker: another `oomph run` runs this one");
    }
    let mut command = match launch::command(words) {
        Ok(command) => command,
        Err(error) => return error.into(),
    };
    launch::set_environment(&mut command, &of_part_of_real(&Conditions::on_device(arguments.changes.clone())));
    start_error::explain(&words[0], command.exec()).into()
}

/// Runs one program, as often as asked.
struct Runner<'a> {
    arguments: &'a Run,
    unpacked: Unpacked,
    spec: RunSpec,
    attendant: Attendant,
    /// The run to compare with, for the first run.
    before: Cell<Option<AgainstRun>>,
}

/// A run that has ended.
struct EndedRun {
    folder: PathBuf,
    launched: Launch,
    status: u8,
    /// True if memory ended it.
    ran_out: bool,
}

impl Runner<'_> {
    /// Runs the program with `changes`, records in `folder`, and explains the end. `outlets`: the places for its figures.
    fn run(&self, folder: PathBuf, changes: &[Change], outlets: Outlets) -> Result<EndedRun, Error> {
        let conditions = Conditions::on_device(changes.to_vec());
        let mut launched = Launch { slurm_job: slurm_job(), ..self.spec.launch(&conditions) };
        match run_folder::write_launch(&folder, &launched) {
            Err(problem) if self.arguments.save.is_some() => return Err(problem.into()),
            Err(problem) => output::say(&format!("oomph: {problem}; the program runs all the same")),
            Ok(()) => {}
        }
        let folders = Folders { library: &self.unpacked.library_dir, inject: &self.unpacked.inject_dir, run: &folder };
        let mut command = launch::command(&self.spec.command)?;
        launch::set_environment(&mut command, &of_real(&conditions, &folders));
        let host = HostWatch::start();
        let watching = Watching::start(&folder, outlets)?;
        let own = watching.own_signal(self.arguments.snapshot_signal);
        let ended = self.attendant.attend(&mut command, own)?;
        let has_snapshots = watching.finish();
        launched.host = Some(Box::new(host.finish()));
        launched.ended = Some(ended.clone());
        // The program has ended: a problem of the recording is a remark, and the status stays the program's.
        let ran_out = self.finish(&folder, &launched, changes, has_snapshots).unwrap_or_else(|error| {
            failure::tell(&error);
            false
        });
        Ok(EndedRun { folder, launched, status: status_of(&ended), ran_out })
    }

    /// Says how the program ended, and keeps the recording if it may be wanted. Returns true if memory ended the program.
    fn finish(&self, folder: &Path, launched: &Launch, changes: &[Change], has_snapshots: bool) -> Result<bool, Error> {
        if !folder.is_dir() {
            let gone = "was removed while the program ran, so its end is not explained";
            output::say(&format!("oomph: the recording in {} {gone}", folder.display()));
            return Ok(false);
        }
        if let Err(problem) = run_folder::write_launch(folder, launched) {
            output::say(&format!("oomph: {problem}; what is recorded is explained all the same"));
        }
        let kind = self.arguments.report_kind();
        let (report, picture) = real_run::explain(folder, launched, changes, kind == ReportKind::Page)?;
        output::say_report(&report, if self.arguments.verbose { Detail::Full } else { Detail::Brief })?;
        let written = self.write_report(&report, &picture);
        let compared = self.before.take().map_or(Ok(()), |before| against::say(before, folder, self.arguments));
        // Further errors do not take the place of the report.
        for problem in [written, compared].into_iter().filter_map(Result::err) {
            output::failure(&problem);
        }
        if self.arguments.save.is_none() && !report.is_of_use() && !has_snapshots {
            run_folder::remove(folder);
        } else {
            output::say(&format!("oomph: recorded in {0}; `oomph explain {0}` says this again", folder.display()));
        }
        Ok(report.out_of_memory.is_some())
    }

    /// Writes the report to the file of `--report`.
    fn write_report(&self, report: &RunReport, picture: &RunPicture) -> Result<(), Error> {
        let Some(path) = &self.arguments.report else { return Ok(()) };
        let text = match self.arguments.report_kind() {
            ReportKind::Page => html::run(report, picture),
            ReportKind::Text(format) => render(report, format, Look::default())?,
        };
        publish::write_whole(path, &text)
    }
}

/// The status of a shell: the program's own, or 128 and the signal.
fn status_of(ended: &Ended) -> u8 {
    let code = ended.exit_code.unwrap_or_else(|| 128 + ended.signal.unwrap_or_default());
    u8::try_from(code).unwrap_or(u8::MAX)
}
