//! The dry runs of a sweep on this machine: children of one fork server.

use base::interrupt;
use diagnose::failure::ProgramFailure;
use diagnose::{Ending, LinePoint, PointAnswer, SweepGpu, SweepLine, Trial, Variant};
use drive::Program;
use drive::dry_run::jobs::default_jobs;
use drive::dry_run::trial_runner::TrialRunner;
use remedies::{BATCH_SIZE, OWN_OPTIONS, setting};
use report::sweep::SweepPoint;
use report::{Change, Usage};

use super::gpu_group::GpuGroup;
use crate::args::Sweep;
use crate::error::Error;
use crate::program;

/// The lines that are worked on at a time, for each job: a fork server waits for none.
const LINES_AT_ONCE: usize = 8;

/// Takes the points of a configuration, one for each GPU.
pub(super) type Take<'a> = &'a mut dyn FnMut(Vec<SweepPoint>) -> Result<(), Error>;

/// Runs the unchanged program, which shows its settings.
pub(super) fn run_unchanged(program: &Program, arguments: &Sweep) -> Result<Trial, Error> {
    let probes = [BATCH_SIZE, OWN_OPTIONS, "sequence-length", "resolution"];
    let changes = probes.map(|name| Change::new(name).with(setting::PROBE, true));
    let mut runner = make_runner(program, 1, arguments)?;
    let mut found = None;
    let goes_on = runner.run(&[Variant::need(changes.to_vec())], &mut |_, trial| found = Some(trial))?;
    match found {
        Some(trial) if trial.ending == Ending::Done => Ok(trial),
        Some(Trial { ending: Ending::Failed { message }, .. }) if goes_on => {
            Err(program::explain_failure(program, message))
        }
        Some(Trial { ending: Ending::RanOut, .. }) => {
            let failure = ProgramFailure::RanOutUnlimited { output: String::new() };
            Err(base::Error::Program(Box::new(failure)).into())
        }
        Some(_) | None => Err(base::Error::Interrupted.into()),
    }
}

/// Runs one configuration; `None` if the program fails.
pub(super) fn run_one(program: &Program, arguments: &Sweep, point: &LinePoint) -> Result<Option<Usage>, Error> {
    let mut runner = make_runner(program, 1, arguments)?;
    let mut found = None;
    runner.run(&[Variant::need(point.changes.clone())], &mut |_, trial| {
        found = (trial.ending == Ending::Done).then_some(trial.usage);
    })?;
    Ok(found)
}

fn make_runner<'a>(program: &'a Program, jobs: usize, arguments: &Sweep) -> Result<TrialRunner<'a>, Error> {
    Ok(TrialRunner::new(program, jobs, false, !arguments.no_cache, Variant::need(Vec::new()))?)
}

/// Answers all lines of configurations for a group.
pub(super) fn run(
    program: &Program,
    arguments: &Sweep,
    group: &GpuGroup,
    lines: Vec<Vec<LinePoint>>,
    take: Take,
) -> Result<(), Error> {
    let jobs = arguments.jobs.map_or_else(default_jobs, std::num::NonZeroUsize::get);
    let mut runner = make_runner(program, jobs, arguments)?;
    let mut waiting = lines.into_iter().map(SweepLine::new);
    let mut lines: Vec<SweepLine> = Vec::new();
    while !interrupt::has_come() {
        lines.retain(|line| !line.next().is_empty());
        lines.extend(waiting.by_ref().take((jobs * LINES_AT_ONCE).saturating_sub(lines.len())));
        let wanted: Vec<(usize, usize)> = lines
            .iter()
            .enumerate()
            .flat_map(|(line, known)| known.next().into_iter().map(move |at| (line, at)))
            .collect();
        if wanted.is_empty() {
            break;
        }
        run_round(&mut runner, &mut lines, &wanted, group, take)?;
    }
    Ok(())
}

/// Runs configurations, and passes on what is then known.
fn run_round(
    runner: &mut TrialRunner,
    lines: &mut [SweepLine],
    wanted: &[(usize, usize)],
    group: &GpuGroup,
    take: Take,
) -> Result<(), Error> {
    let variant = |(line, at): &(usize, usize)| {
        let changes = lines[*line].points()[*at].changes.clone();
        // A recording answers for sizes between, and for GPUs with a little less memory than the need.
        Variant { recorded: true, ..Variant::need(changes) }
    };
    let variants: Vec<Variant> = wanted.iter().map(variant).collect();
    let mut failure = None;
    runner.run(&variants, &mut |index, trial| {
        let (line, at) = wanted[index];
        lines[line].learn(at, &trial);
        for (point, answer) in lines[line].take_answers() {
            let taken = take(judge(&point, &answer, group));
            failure = failure.take().or(taken.err());
        }
    })?;
    failure.map_or(Ok(()), Err)
}

fn judge(point: &LinePoint, answer: &PointAnswer, group: &GpuGroup) -> Vec<SweepPoint> {
    let judged = |gpu: &SweepGpu| SweepPoint { number: point.number, ..answer.judge(gpu, group.profile.context_bytes) };
    group.gpus.iter().map(judged).collect()
}
