//! `oomph check`: runs the program on the phantom, a second time without a limit where it ran out, and reports.

mod record;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use diagnose::Case;
use gpus::{Field, Profile, Provenance};
use report::render::{concise, github, html, json, terminal};
use report::{Assumption, CheckReport, Verdict};
use trace::run::{Job, Launch as LaunchFacts};
use trace::{Process, Record, Run};

use self::record::record_again;
pub(super) use self::record::{Pass, ran_out, record};
use crate::args::{Check, Form, Format};
use crate::cache::{self, Unpacked};
use crate::card::{self, Card};
use crate::error::{Error, ProgramFailure};
use crate::launch::Shown;
use crate::rundir::{self, Place};
use crate::server::ForkServer;
use crate::{ExitStatus, linted, output, publish, python};

/// What is the same for both runs.
pub(super) struct Plan<'a> {
    arguments: &'a Check,
    pub(super) card: Card,
    pub(super) command: Vec<OsString>,
    unpacked: Unpacked,
    pub(super) device: String,
    job: Option<Job>,
    /// Whether it is noted which files the program looks at.
    pub(super) notes_files: bool,
    /// What is shown of a run whose output is not.
    pub(super) shown: Shown,
}

impl Plan<'_> {
    /// Whether the program is a Python that can wait as a fork server: one process, which starts no others to train in.
    pub(super) fn is_python(&self) -> bool {
        self.job.is_none() && (!self.arguments.is_command_line || starts_python(&self.command))
    }

    /// A fork server for the program; its files lie in `folder`.
    pub(super) fn fork_server(&self, folder: &Path) -> Result<ForkServer, Error> {
        ForkServer::start(&self.command, &self.unpacked, &self.device, self.devices(), folder, self.notes_files)
    }

    /// How far a run goes: its steps, and the share that value-dependent shapes are assumed to select.
    pub(super) fn depth(&self) -> (u32, f64) {
        (self.arguments.depth.steps, self.arguments.depth.fraction)
    }

    /// How many GPUs a process sees.
    pub(super) fn devices(&self) -> u32 {
        self.job.as_ref().map_or(self.arguments.card.gpus, |job| job.local_world_size)
    }
}

/// Whether a command line starts a script with a Python.
fn starts_python(command: &[OsString]) -> bool {
    let name = command.first().and_then(|program| Path::new(program).file_name()).unwrap_or_default();
    name.to_string_lossy().starts_with("python")
}

/// What the launcher knows of a program that ended without a word: nothing where it ended well.
pub(super) fn failure_words(folder: &Path, status: i32, timed_out: Option<Duration>) -> Option<String> {
    let last = rundir::output_tail(folder).lines().last().unwrap_or_default().to_owned();
    match (timed_out, status) {
        (Some(limit), _) => Some(format!("it did not end within {} s", limit.as_secs())),
        (None, 0) => None,
        (None, 1..) => Some(format!("it ended with exit status {status}: {last}")),
        (None, _) => Some(format!("it was killed by signal {}", -status)),
    }
}

/// Runs the check and prints its report.
pub(crate) fn run(arguments: &Check) -> Result<ExitStatus, Error> {
    let started = Instant::now();
    if let Some(path) = &arguments.form.html {
        publish::possible(path)?;
    }
    let plan = plan(arguments)?;
    let place = Place::make(arguments.save.as_deref())?;
    let (mut launch, mut limited) = record(&plan, place.path(), Pass::Limited)?;
    fail_without_facts(&launch, &limited, place.path())?;
    if let Some(others) = diagnose::others_of_shared(&launch, &limited) {
        let again = record_again(&plan, place.path(), Pass::Shared(others))?;
        fail_without_facts(&again.0, &again.1, &again.2)?;
        (launch, limited) = (again.0, again.1);
    }
    let unlimited = if ran_out(&limited) { Some(record_again(&plan, place.path(), Pass::Unlimited)?.1) } else { None };
    let case = Case {
        launch,
        limited,
        unlimited,
        gpu_assumed: plan.card.is_assumed,
        folder: std::env::current_dir().unwrap_or_default().display().to_string(),
        seconds: started.elapsed().as_secs_f64(),
    };
    let mut report = diagnose::check(&case);
    let script = arguments.program.first().filter(|_| !arguments.is_command_line).map(Path::new);
    linted::link(&mut report.findings, &case.folder, script);
    report.assumptions.extend(card_assumptions(&plan.card.profile));
    show(&arguments.form, &report)
}

/// What is only estimated of the card, and counts against "fits". A context that others' programs had counts too: programs
/// differ in the kernels that they load.
pub(super) fn card_assumptions(profile: &Profile) -> impl Iterator<Item = Assumption> + '_ {
    let figures = [
        (Field::TotalBytes, "gpu-memory", "the GPU's memory", profile.total_bytes),
        (Field::ContextBytes, "cuda-context", "what the CUDA context takes", profile.context_bytes),
    ];
    figures.into_iter().filter_map(|(field, id, what, bytes)| {
        let (provenance, source) = profile.provenance(field);
        let how = match provenance {
            Provenance::Estimated => "estimated",
            Provenance::Published if field == Field::ContextBytes => "taken from what others published",
            Provenance::Published | Provenance::Measured | Provenance::Given => return None,
        };
        Some(Assumption { id: id.to_owned(), text: format!("{what} is {how}: {source}"), bytes })
    })
}

pub(super) fn plan(arguments: &Check) -> Result<Plan<'_>, Error> {
    let card = card::choose(&arguments.card)?;
    let job = arguments.world.job()?;
    let command = command(arguments)?;
    let unpacked = cache::unpack()?;
    let device = card.profile.device_variable();
    Ok(Plan { arguments, card, command, unpacked, device, job, notes_files: false, shown: Shown::Progress })
}

/// `python SCRIPT ARGS`, or the command line after `--` as it is.
fn command(arguments: &Check) -> Result<Vec<OsString>, Error> {
    if arguments.is_command_line {
        return Ok(arguments.program.clone());
    }
    let script = PathBuf::from(&arguments.program[0]);
    match fs::metadata(&script) {
        Ok(found) if found.is_dir() => return Err(Error::ScriptIsFolder(script)),
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(no_script(script)),
        Err(source) => return Err(Error::Unreadable { path: script, source }),
    }
    let python = python::choose(arguments.depth.python.as_deref());
    python::check_torch(&python)?;
    Ok([python.into_os_string()].into_iter().chain(arguments.program.iter().cloned()).collect())
}

/// A misspelt option stands where the script is expected.
fn no_script(script: PathBuf) -> Error {
    match script.to_str().filter(|word| word.starts_with('-')) {
        Some(word) => Error::NoOption(word.to_owned()),
        None => Error::NoScript(script),
    }
}

/// Where the program did something that leaves nothing to check, that is the answer.
pub(super) fn fail_without_facts(launch: &LaunchFacts, run: &Run, folder: &Path) -> Result<(), Error> {
    let output = rundir::output_tail(folder);
    let error = if ended_by_oom(run) { None } else { first_cause(run) };
    let symbols = rundir::missing_symbols(folder)?;
    let used_cuda = run.processes.iter().any(|process| process.snapshot.is_some() || !process.phantom.is_empty());
    let ended = launch.ended.clone().unwrap_or_default();
    let failure = match error {
        Some(Cause { at, .. }) if !symbols.is_empty() => ProgramFailure::MissingEntryPoint { symbols, at, output },
        Some(Cause { type_name, message, at }) => {
            ProgramFailure::Raised { type_name, message, at, read: last_read(run), output }
        }
        None if run.processes.iter().any(lacks_snapshot) => ProgramFailure::NoSnapshot { output },
        None if used_cuda => return Ok(()),
        None if ended.timed_out => ProgramFailure::TimedOut { seconds: ended.seconds, output },
        None if let Some(signal) = ended.signal => ProgramFailure::Killed { signal, output },
        None if let Some(code) = ended.exit_code.filter(|code| *code != 0) => ProgramFailure::Exited { code, output },
        None if run.processes.is_empty() && rundir::phantom_was_used(folder)? => ProgramFailure::NoAgent { output },
        None if run.processes.is_empty() => ProgramFailure::NoTorch { output },
        None => ProgramFailure::NoCuda { output },
    };
    Err(Error::Program(Box::new(failure)))
}

/// Whether an out-of-memory error ended a process; the errors of others, such as a launcher's, then follow from it.
fn ended_by_oom(run: &Run) -> bool {
    run.processes
        .iter()
        .flat_map(|process| &process.records)
        .any(|record| matches!(record, Record::Error { oom: true, .. }))
}

/// An error that ended the program.
struct Cause {
    type_name: String,
    message: String,
    at: Option<(String, u32)>,
}

/// One in the user's own code is the cause of one that a launcher raised about it.
fn first_cause(run: &Run) -> Option<Cause> {
    let errors = run.processes.iter().flat_map(|process| &process.records).filter_map(|record| match record {
        Record::Error { oom: false, type_name, message, file, line, .. } => {
            Some(Cause { type_name: type_name.clone(), message: message.clone(), at: file.clone().zip(*line) })
        }
        _ => None,
    });
    errors.min_by_key(|cause| cause.at.is_none())
}

/// The line that was the last to start reading values that nothing computed.
fn last_read(run: &Run) -> Option<(String, u32)> {
    let records = run.processes.iter().flat_map(|process| &process.records);
    let mut reads = records.filter_map(|record| match record {
        Record::ValueRead { file, line, .. } => Some((file.clone(), *line)),
        _ => None,
    });
    reads.next_back()
}

/// Whether the process came to its end after using a GPU, and could not write the snapshot that PyTorch had for it.
fn lacks_snapshot(process: &Process) -> bool {
    let has = |is: fn(&Record) -> bool| process.records.iter().any(is);
    has(|record| matches!(record, Record::End { devices, snapshot: None, .. } if !devices.is_empty()))
        && !has(|record| matches!(record, Record::Unrecorded { .. }))
}

fn show(form: &Form, report: &CheckReport) -> Result<ExitStatus, Error> {
    if let Some(path) = &form.html {
        publish::whole(path, &html::check(report))?;
    }
    output::answer(&written(form.printed.format(), report)?)?;
    Ok(match report.verdict {
        Verdict::Fits => ExitStatus::Fits,
        Verdict::Oom => ExitStatus::Found,
        Verdict::Incomplete { .. } => ExitStatus::Failed,
    })
}

fn written(format: Format, report: &CheckReport) -> Result<String, Error> {
    Ok(match format {
        Format::Terminal => terminal::check(report, &output::look()),
        Format::Concise => concise::check(report),
        Format::Github => github::check(report),
        Format::Json => json::check(report)?,
    })
}
