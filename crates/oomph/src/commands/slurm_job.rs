//! `oomph explain --slurm-job`: the logs of a job, its recording, and the facts that Slurm knows, in one report.

use std::fs;
use std::path::{Path, PathBuf};

use base::{SlurmError, run_dir};
use diagnose::{ExplainInput, InputContents};
use drive::slurm::read_job;
use report::render::html;
use trace::Launch;
use trace::run::{Ended, HostRecord};
use trace::slurm::{JobExit, SlurmJob};

use super::answer::{deliver, explain_inputs};
use super::real_run;
use crate::args::Explain;
use crate::artifacts;
use crate::error::{Error, InputError};
use crate::exit::ExitStatus;

/// SIGKILL.
const KILL: i32 = 9;

/// Explains the end of a job: by the recording if that tells the cause, else by the logs.
pub(super) fn explain(id: &str, arguments: &Explain) -> Result<ExitStatus, Error> {
    let slurm = read_job(id).map_err(base::Error::from)?;
    if let Some((folder, launched)) = find_recording(&slurm)
        && let Some(status) = explain_recording(&folder, &add_end(launched, &slurm), &slurm, arguments)?
    {
        return Ok(status);
    }
    let mut inputs = read_logs(&slurm)?;
    if slurm.is_out_of_host_memory() {
        inputs.push(state_kill(&slurm));
    }
    explain_inputs(inputs, Some(describe(&slurm)), arguments)
}

/// Explains the recording; `None` if the cause of the end is not recorded.
fn explain_recording(
    folder: &Path,
    launched: &Launch,
    slurm: &SlurmJob,
    arguments: &Explain,
) -> Result<Option<ExitStatus>, Error> {
    if real_run::is_open(folder, launched)? {
        return Ok(None);
    }
    let (mut report, picture) = real_run::explain(folder, launched, &[], arguments.output.html.is_some())?;
    let is_told = report.out_of_memory.is_some() || report.caught.is_some() || slurm.is_out_of_host_memory();
    if !is_told {
        return Ok(None);
    }
    report.notes.push(format!("{}; recorded in {}", describe(slurm), folder.display()));
    deliver(&report, || html::run(&report, &picture), arguments)?;
    Ok(Some(ExitStatus::Found))
}

/// The recording of the job below the working directory, by `oomph run --save` or `OOMPH_RUN`; the last by name.
fn find_recording(slurm: &SlurmJob) -> Option<(PathBuf, Launch)> {
    let entries = fs::read_dir(&slurm.folder).ok()?.filter_map(Result::ok);
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| run_dir::is_run(path)).collect();
    folders.sort();
    let mut runs =
        folders.into_iter().rev().filter_map(|folder| Some((folder.clone(), run_dir::read_launch(&folder).ok()?)));
    runs.find(|(_, launched)| launched.is_real() && launched.slurm_job.is_some_and(|id| id.to_string() == slurm.raw_id))
}

/// Adds Slurm's facts to a recording that lacks them, because oomph itself was killed with the job.
fn add_end(launched: Launch, slurm: &SlurmJob) -> Launch {
    let ended = match (slurm.is_out_of_host_memory(), slurm.exit) {
        (true, _) => Some(Ended { signal: Some(KILL), ..Ended::default() }),
        (false, Some(JobExit { status, signal: 0 })) => Some(Ended { exit_code: Some(status), ..Ended::default() }),
        (false, Some(JobExit { signal, .. })) => Some(Ended { signal: Some(signal), ..Ended::default() }),
        (false, None) => None,
    };
    let host = slurm.is_out_of_host_memory().then(|| HostRecord {
        killed_processes: Some(1),
        is_of_group: true,
        limit_bytes: slurm.requested_bytes().map(|bytes| bytes.0),
        largest_process_bytes: slurm.largest_process.map_or(0, |bytes| bytes.0),
        ended_micros: 0,
    });
    Launch {
        ended: launched.ended.or_else(|| ended.filter(|_| slurm.has_ended())),
        host: launched.host.or_else(|| host.map(Box::new)),
        ..launched
    }
}

/// Reads the logs. An unreadable log, or empty ones alone, are an error, unless Slurm itself tells what ended the job.
fn read_logs(slurm: &SlurmJob) -> Result<Vec<ExplainInput>, Error> {
    let logs = if slurm.logs.is_empty() { vec![slurm.default_log()] } else { slurm.logs.clone() };
    let (mut inputs, mut empty) = (Vec::new(), None);
    for log in logs {
        match artifacts::read(std::slice::from_ref(&log)) {
            Ok(read) => inputs.extend(read),
            Err(_) if slurm.is_out_of_host_memory() => {}
            Err(error @ Error::Input(InputError::Empty(_))) => empty = Some(error),
            Err(other) => return Err(unreadable(slurm, &log).unwrap_or(other)),
        }
    }
    empty.filter(|_| inputs.is_empty()).map_or(Ok(inputs), Err)
}

/// The error of a log that cannot be opened; `None` if it can.
fn unreadable(slurm: &SlurmJob, log: &Path) -> Option<Error> {
    let source = fs::File::open(log).err()?;
    let path = log.display().to_string();
    Some(base::Error::from(SlurmError::Log { id: slurm.id.clone(), path, source }).into())
}

/// The state of the job as a text, in the words of Slurm's `seff`: a silent Slurm leaves no line about a kill in the log.
fn state_kill(slurm: &SlurmJob) -> ExplainInput {
    let text = format!(
        "Job ID: {}\nState: OUT_OF_MEMORY (exit code {})\n",
        slurm.id,
        slurm.exit.map_or(0, |exit| exit.status)
    );
    let contents = InputContents::Text(trace::text::read(text.as_bytes()));
    ExplainInput { path: format!("sacct -j {}", slurm.id), rank: None, contents }
}

/// The sentence on the job.
fn describe(slurm: &SlurmJob) -> String {
    let end = match slurm.exit {
        None | Some(JobExit { status: 0, signal: 0 }) => String::new(),
        Some(JobExit { status, signal: 0 }) => format!(", exit status {status}"),
        Some(JobExit { signal, .. }) => format!(", signal {signal}"),
    };
    let largest = slurm.largest_process.map(|bytes| format!(", {bytes} resident in the largest process"));
    let memory = slurm.requested_bytes().map(|bytes| format!(", {bytes} of host memory requested"));
    let nodes = Some(&slurm.nodes).filter(|nodes| !nodes.is_empty()).map(|nodes| format!(", on {nodes}"));
    let parts: String = [Some(end), largest, memory, nodes].into_iter().flatten().collect();
    format!("Slurm job {} ({}): {}{parts}", slurm.id, slurm.name, slurm.state)
}
