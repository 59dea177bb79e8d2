//! `oomph sweep`: which of many configurations fit which GPUs. `diagnose` decides which configurations run and which are replayed; the runs
//! are made here, on Ray or on Slurm.

mod engine;
mod folder;
mod gpu_group;
mod groups;
mod local;
mod plan;
mod request;
mod tables;
mod task;

use std::time::Instant;

use base::{Words, interrupt};
use diagnose::find_setters;
use report::render::terminal::Detail;
use report::sweep::{SweepDevice, SweepPoint, SweepReport};

use self::folder::SweepFolder;
use self::gpu_group::GpuGroup;
use self::plan::SweepPlan;
use crate::args::Sweep;
use crate::effects::sweep_progress::SweepProgress;
use crate::error::{Error, SweepError};
use crate::exit::ExitStatus;
use crate::output;

/// Sweeps and prints. `after_dashes`: the program was written after a `--`.
pub(crate) fn run(arguments: &Sweep, after_dashes: bool) -> Result<ExitStatus, Error> {
    let words = Words::new(arguments.program.clone(), after_dashes);
    if arguments.worker {
        return task::work(arguments, &words);
    }
    let started = Instant::now();
    let grid = plan::read_grid(arguments)?;
    request::check(arguments)?;
    let profiles = groups::choose(arguments)?;
    let [first, ..] = profiles.as_slice() else { return Err(Error::from(SweepError::NoGpu)) };
    let program = groups::prepare(arguments, first, &words)?;
    interrupt::begin_examination();
    let unchanged = local::run_unchanged(&program, arguments)?;
    let written = options::list_in_words(&program.spec.command);
    let setters = find_setters(&grid.names(), &unchanged, &written).map_err(SweepError::from)?;
    let plan = SweepPlan::new(&grid, setters, &program.spec.command)?;
    let mut folder = SweepFolder::open(arguments, &program, &unchanged)?;
    let groups = groups::group(arguments, &profiles, &words, &plan)?;
    let counts = sweep(arguments, &words, &plan, &groups, &mut folder)?;
    let report = report(&plan, &groups, &folder, counts, started.elapsed().as_secs_f64());
    tables::write(&folder, &report.points)?;
    if let Some(format) = arguments.report_format() {
        output::show(&report, format, Detail::Brief)?;
    } else {
        request::print(arguments, &report)?;
    }
    let fits = report.points.iter().any(|point| point.verdict.is_good());
    Ok(if fits { ExitStatus::Fits } else { ExitStatus::Found })
}

/// The work of a call.
#[derive(Clone, Debug, Default)]
struct SweepCounts {
    runs: u64,
    replayed: u64,
    kept: u64,
    notes: Vec<String>,
}

/// Makes what is missing in the folder.
fn sweep(
    arguments: &Sweep,
    words: &Words,
    plan: &SweepPlan,
    groups: &[GpuGroup],
    folder: &mut SweepFolder,
) -> Result<SweepCounts, Error> {
    let whole = plan.count() * groups.len() as u64;
    let most = task::most_points(arguments.slurm, whole);
    let tasks: Vec<task::SweepTask> =
        groups.iter().flat_map(|group| task::cut(arguments, plan, group, folder, most)).collect();
    let missing: u64 = tasks.iter().map(task::SweepTask::count).sum();
    let mut counts = SweepCounts { kept: whole - missing, ..SweepCounts::default() };
    let path = folder.path().to_owned();
    let progress = SweepProgress::start(missing);
    let mut take = |points: Vec<SweepPoint>, counts: &mut SweepCounts| -> Result<(), Error> {
        let Some(first) = points.first() else { return Ok(()) };
        progress.advance(first);
        let is_run = first.how == report::sweep::HowKnown::Run;
        *(if is_run { &mut counts.runs } else { &mut counts.replayed }) += 1;
        folder.add(points.into_iter().map(|point| plan.complete(point)).collect())
    };
    if tasks.is_empty() {
        return Ok(counts);
    }
    if arguments.slurm || arguments.ray.is_some() {
        engine::run(arguments, words, &path, &tasks, &mut counts, &mut take)?;
    } else {
        for group in groups {
            let program = groups::prepare(arguments, &group.profile, words)?;
            let mine = tasks.iter().filter(|task| task.run_for == group.profile.name);
            let lines = mine.flat_map(|task| task.lines.clone()).collect();
            local::run(&program, arguments, group, lines, &mut |points| take(points, &mut counts))?;
        }
    }
    Ok(counts)
}

fn report(
    plan: &SweepPlan,
    groups: &[GpuGroup],
    folder: &SweepFolder,
    counts: SweepCounts,
    seconds: f64,
) -> SweepReport {
    let gpus = groups.iter().flat_map(|group| {
        group.gpus.iter().map(|gpu| SweepDevice {
            name: gpu.name.clone(),
            capacity_bytes: gpu.capacity,
            run_for: group.profile.name.clone(),
        })
    });
    let gpus: Vec<SweepDevice> = gpus.collect();
    let points = folder.points();
    let whole = plan.count() * gpus.len() as u64;
    SweepReport {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        axes: plan.axes(),
        is_partial: (points.len() as u64) < whole,
        gpus,
        points,
        configurations: plan.count(),
        runs: counts.runs,
        replayed: counts.replayed,
        kept: counts.kept,
        folder: folder.path().display().to_string(),
        notes: counts.notes.into_iter().chain(folder.notes().iter().cloned()).collect(),
        seconds,
    }
}
