//! Running the program for a check: under the device's limit, then as its first run calls for.

use std::fs;
use std::path::{Path, PathBuf};

use trace::run::{Ended, Launch as LaunchFacts};
use trace::{Bytes, Record, Run};

use super::Plan;
use crate::error::Error;
use crate::launch::{self, Launch, Shown};
use crate::rundir;

/// Under which conditions a program is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands) enum Pass {
    /// On the device as it is.
    Limited,
    /// On a device of which other processes hold so much: the ranks that share it each have their part.
    Shared(Bytes),
    /// Without a limit.
    Unlimited,
}

/// Runs the program once, or each rank that was asked for once, and reads what was recorded.
pub(in crate::commands) fn record(plan: &Plan, folder: &Path, pass: Pass) -> Result<(LaunchFacts, Run), Error> {
    let mut facts = facts(plan, pass);
    rundir::write_launch(folder, &facts)?;
    let ended = match &plan.job {
        None => run(plan, folder, pass, None)?,
        Some(job) => {
            let ends = job.ranks.iter().map(|rank| run(plan, folder, pass, Some(*rank)));
            together(ends.collect::<Result<Vec<_>, _>>()?)
        }
    };
    facts.ended = Some(ended);
    rundir::write_launch(folder, &facts)?;
    Ok((facts, rundir::read(folder)?))
}

/// The same in a folder of its own inside the run's.
pub(super) fn record_again(plan: &Plan, folder: &Path, pass: Pass) -> Result<(LaunchFacts, Run, PathBuf), Error> {
    let folder = folder.join(if pass == Pass::Unlimited { rundir::UNLIMITED } else { rundir::SHARED });
    fs::create_dir(&folder).map_err(|source| Error::RunFolder { folder: folder.clone(), source })?;
    let (facts, run) = record(plan, &folder, pass)?;
    Ok((facts, run, folder))
}

fn run(plan: &Plan, folder: &Path, pass: Pass, rank: Option<u32>) -> Result<Ended, Error> {
    let arguments = plan.arguments;
    let launch = Launch {
        command: &plan.command,
        unpacked: &plan.unpacked,
        folder,
        device: &plan.device,
        devices: plan.devices(),
        unlimited: pass == Pass::Unlimited,
        steps: arguments.depth.steps,
        fraction: arguments.depth.fraction,
        changes: &arguments.changes,
        rank: rank.zip(plan.job.as_ref()),
        others: if let Pass::Shared(others) = pass { others } else { Bytes::ZERO },
        timeout: arguments.depth.timeout,
        conf: arguments.conf.as_deref(),
        shown: if arguments.verbose && pass == Pass::Limited { Shown::Output } else { plan.shown },
        notes_files: plan.notes_files,
    };
    let ended = launch::run(&launch, &what(pass, rank));
    rundir::remove_unfinished(folder)?;
    ended
}

/// What the progress line says.
fn what(pass: Pass, rank: Option<u32>) -> String {
    let what = match pass {
        Pass::Limited => "running on the phantom GPU",
        Pass::Shared(_) => "ranks share a GPU; running with a part of it for each",
        Pass::Unlimited => "it ran out; running without a limit",
    };
    rank.map_or_else(|| what.to_owned(), |rank| format!("rank {rank}: {what}"))
}

/// How several runs ended: as the first that did not end well.
fn together(ends: Vec<Ended>) -> Ended {
    let seconds = ends.iter().map(|ended| ended.seconds).sum();
    let worst = ends.into_iter().reduce(|worst, next| if is_well(&worst) { next } else { worst });
    Ended { seconds, ..worst.unwrap_or_default() }
}

fn is_well(ended: &Ended) -> bool {
    ended.exit_code == Some(0) && !ended.timed_out
}

fn facts(plan: &Plan, pass: Pass) -> LaunchFacts {
    LaunchFacts {
        format: LaunchFacts::FORMAT,
        oomph: env!("CARGO_PKG_VERSION").to_owned(),
        command: plan.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        gpu_name: plan.card.profile.name.clone(),
        device_total_bytes: plan.card.profile.total_bytes.0,
        device_context_bytes: plan.card.profile.context_bytes.0,
        devices: plan.devices(),
        unlimited: pass == Pass::Unlimited,
        steps: plan.arguments.depth.steps,
        job: plan.job.clone(),
        ended: None,
    }
}

/// Whether the answer needs a run without a limit: it ran out, or it got through only because PyTorch emptied its cache.
pub(in crate::commands) fn ran_out(run: &Run) -> bool {
    run.processes.iter().flat_map(|process| &process.records).any(|record| match record {
        Record::Oom { .. } => true,
        Record::Error { oom, .. } => *oom,
        Record::End { devices, .. } => devices.iter().any(|stats| stats.alloc_retries > 0),
        _ => false,
    })
}
