//! The search for a plan: `oomph fit` in a process of its own, with the device of the run that ran out.
//!
//! A search handles signals, temporary folders and orphans otherwise than a real run does; here the search is only awaited.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek};
use std::process::Stdio;

use diagnose::{FullDevice, NoRetry};
use drive::process::launch;
use gpus::write_size;
use report::fit::FitReport;
use trace::Bytes;

use super::Runner;
use super::stop::Stop;
use crate::error::Error;
use crate::exit::ExitStatus;

/// The changes that a search may try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SearchScope {
    /// Those that keep the results, up to rounding.
    SameResults,
    /// All of `fit`.
    OtherResults,
    /// The size of the batch.
    SmallerBatch,
}

impl SearchScope {
    /// The options of `fit`.
    fn options(self) -> &'static [&'static str] {
        match self {
            SearchScope::SameResults => &["--keep-numerics"],
            SearchScope::OtherResults => &[],
            SearchScope::SmallerBatch => &["--max-batch"],
        }
    }
}

/// Searches for plans with which a program fits a device.
pub(super) fn search(runner: &Runner, device: &FullDevice, scope: SearchScope) -> Result<FitReport, Stop> {
    let mut answer = tempfile::tempfile().map_err(Error::from)?;
    // A signal may come before the search starts, and is then not passed on.
    check_signals(runner)?;
    let status = run_fit(runner, device, scope, &answer)?;
    check_signals(runner)?;
    let report = answer.rewind().map(|()| serde_json::from_reader::<_, FitReport>(io::BufReader::new(answer)));
    match report {
        Ok(Ok(report)) if !report.interrupted => Ok(report),
        _ => Err(Stop::No(format!("the search failed, with {status}"))),
    }
}

fn check_signals(runner: &Runner) -> Result<(), Stop> {
    runner.attendant.asked_to_end().map_or(Ok(()), |signal| Err(Stop::Interrupted(signal)))
}

/// Runs `oomph fit`, whose answer goes to a file; returns its end in words.
fn run_fit(runner: &Runner, device: &FullDevice, scope: SearchScope, answer: &File) -> Result<String, Stop> {
    let words = write_line(device, scope)?.into_iter().chain(runner.spec.command.iter().cloned()).collect::<Vec<_>>();
    let mut command = launch::command(&words).map_err(Error::from)?;
    command.stdin(Stdio::null()).stdout(answer.try_clone().map_err(Error::from)?);
    launch::tie(&mut command);
    let ended = runner.attendant.attend(&mut command, None).map_err(Error::from)?;
    Ok(format!("exit status {}", ended.exit_code.unwrap_or_else(|| ExitStatus::Failed.code().into())))
}

/// The command line up to the program.
fn write_line(device: &FullDevice, scope: SearchScope) -> Result<Vec<OsString>, Stop> {
    let profile = gpus::find(&device.name).map_err(|_| NoRetry::UnknownGpu(device.name.clone()))?;
    let oomph = std::env::current_exe().map_err(Error::from)?;
    let others = (device.others > Bytes::ZERO).then(|| format!("--others={}", write_size(device.others)));
    let options = [
        "fit".to_owned(),
        "--json".to_owned(),
        format!("--gpu={}", profile.name),
        format!("--vram={}", write_size(device.total)),
        format!("--gpus={}", device.devices),
        // A real run keeps its command line, files and environment.
        format!("--deny={},{}", remedies::FULLY_SHARD, remedies::OWN_OPTIONS),
    ];
    let all = options.into_iter().chain(others).chain(scope.options().iter().map(|option| (*option).to_owned()));
    Ok([oomph.into_os_string()].into_iter().chain(all.map(OsString::from)).chain(["--".into()]).collect())
}
