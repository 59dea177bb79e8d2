//! `oomph check`: runs the program on the phantom, a second time without a limit where it ran out, and reports.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use diagnose::Case;
use gpus::{Field, Profile, Provenance};
use report::render::{concise, github, html, json, terminal};
use report::{Assumption, CheckReport, Verdict};
use trace::run::Launch as LaunchFacts;
use trace::{Process, Record, Run};

use crate::args::{Check, Form, Format};
use crate::cache::{self, Unpacked};
use crate::card::{self, Card};
use crate::error::{Error, ProgramFailure};
use crate::launch::{self, Launch};
use crate::rundir::{self, Place};
use crate::{ExitStatus, output, publish, python};

/// What is the same for both runs.
pub(super) struct Plan<'a> {
    arguments: &'a Check,
    pub(super) card: Card,
    command: Vec<OsString>,
    unpacked: Unpacked,
    device: String,
}

/// Runs the check and prints its report.
pub(crate) fn run(arguments: &Check) -> Result<ExitStatus, Error> {
    let started = Instant::now();
    if let Some(path) = &arguments.form.html {
        publish::possible(path)?;
    }
    let plan = plan(arguments)?;
    let place = Place::make(arguments.save.as_deref())?;
    let (launch, limited) = record(&plan, place.path(), false)?;
    fail_without_facts(&launch, &limited, place.path())?;
    let unlimited = if ran_out(&limited) { Some(record_need(&plan, place.path())?) } else { None };
    let case = Case {
        launch,
        limited,
        unlimited,
        gpu_assumed: plan.card.is_assumed,
        folder: std::env::current_dir().unwrap_or_default().display().to_string(),
        seconds: started.elapsed().as_secs_f64(),
    };
    let mut report = diagnose::check(&case);
    report.assumptions.extend(card_assumptions(&plan.card.profile));
    show(&arguments.form, &report)
}

/// What is only estimated of the card, and counts against "fits".
fn card_assumptions(profile: &Profile) -> impl Iterator<Item = Assumption> + '_ {
    let figures = [
        (Field::TotalBytes, "gpu-memory", "the GPU's memory", profile.total_bytes),
        (Field::ContextBytes, "cuda-context", "what the CUDA context takes", profile.context_bytes),
    ];
    figures.into_iter().filter_map(|(field, id, what, bytes)| {
        let (provenance, source) = profile.provenance(field);
        let text = format!("{what} is estimated: {source}");
        (provenance == Provenance::Estimated).then(|| Assumption { id: id.to_owned(), text, bytes })
    })
}

pub(super) fn plan(arguments: &Check) -> Result<Plan<'_>, Error> {
    let card = card::choose(&arguments.card)?;
    let command = command(arguments)?;
    let unpacked = cache::unpack()?;
    let device = card.profile.device_variable();
    Ok(Plan { arguments, card, command, unpacked, device })
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
    let python = python::choose(arguments.python.as_deref());
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

/// Runs the program once, and reads what was recorded.
pub(super) fn record(plan: &Plan, folder: &Path, unlimited: bool) -> Result<(LaunchFacts, Run), Error> {
    let mut facts = facts(plan, unlimited);
    rundir::write_launch(folder, &facts)?;
    let launch = Launch {
        command: &plan.command,
        unpacked: &plan.unpacked,
        folder,
        device: &plan.device,
        devices: plan.arguments.card.gpus,
        unlimited,
        steps: plan.arguments.steps,
        fraction: plan.arguments.fraction,
        timeout: plan.arguments.timeout,
        conf: plan.arguments.conf.as_deref(),
        verbose: plan.arguments.verbose && !unlimited,
    };
    let what = if unlimited { "it ran out; running without a limit" } else { "running on the phantom GPU" };
    let ended = launch::run(&launch, what);
    rundir::remove_unfinished(folder)?;
    facts.ended = Some(ended?);
    rundir::write_launch(folder, &facts)?;
    Ok((facts, rundir::read(folder)?))
}

fn record_need(plan: &Plan, folder: &Path) -> Result<Run, Error> {
    let folder = folder.join(rundir::UNLIMITED);
    fs::create_dir(&folder).map_err(|source| Error::RunFolder { folder: folder.clone(), source })?;
    Ok(record(plan, &folder, true)?.1)
}

fn facts(plan: &Plan, unlimited: bool) -> LaunchFacts {
    LaunchFacts {
        format: LaunchFacts::FORMAT,
        oomph: env!("CARGO_PKG_VERSION").to_owned(),
        command: plan.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        gpu_name: plan.card.profile.name.clone(),
        device_total_bytes: plan.card.profile.total_bytes.0,
        device_context_bytes: plan.card.profile.context_bytes.0,
        devices: plan.arguments.card.gpus,
        unlimited,
        steps: plan.arguments.steps,
        ended: None,
    }
}

/// Whether the answer needs a second run: it ran out, or it got through only because PyTorch emptied its cache.
pub(super) fn ran_out(run: &Run) -> bool {
    run.processes.iter().flat_map(|process| &process.records).any(|record| match record {
        Record::Oom { .. } => true,
        Record::Error { oom, .. } => *oom,
        Record::End { devices, .. } => devices.iter().any(|stats| stats.alloc_retries > 0),
        _ => false,
    })
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

/// Whether the process came to its end after using a GPU, and could not write its snapshot.
fn lacks_snapshot(process: &Process) -> bool {
    process
        .records
        .iter()
        .any(|record| matches!(record, Record::End { devices, snapshot: None, .. } if !devices.is_empty()))
}

fn show(form: &Form, report: &CheckReport) -> Result<ExitStatus, Error> {
    if let Some(path) = &form.html {
        publish::whole(path, &html::check(report))?;
    }
    output::answer(&written(form.format(), report)?)?;
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
