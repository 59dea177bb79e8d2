//! `oomph fit`: the smallest change that makes a program fit. `diagnose` chooses the runs, and `trial_runner` performs
//! them.

mod apply;
mod cause;
mod input;
mod kept;
mod runner;

use std::path::Path;
use std::time::Instant;

use diagnose::failure::ProgramFailure;
use diagnose::halt::find_stop;
use diagnose::{Bench, Ending, FitRuns, FoundPlans, Search, Variant, find_largest};
use drive::Program;
use drive::cleanup::interrupt;
use drive::dry_run::jobs::default_jobs;
use drive::dry_run::record::record;
use drive::dry_run::run_cache::RunCache;
use drive::dry_run::trial_runner::{StoppedTrial, TrialRunner};
use drive::run_dir::RunDir;
use drive::words::Words;
use report::fit::{FitReport, FitVerdict, MaxBatch, SizeKind};
use report::render::terminal::{self, Detail};
use run::{Conditions, Limit};
use trace::run::StopCause;

use self::runner::ShownRunner;
use crate::args::{Emit, Fit};
use crate::effects::search_progress::SearchProgress;
use crate::error::Error;
use crate::exit::ExitStatus;
use crate::{gpu_choice, output, program};

/// Searches and prints. `after_dashes`: the program was written after a `--`.
pub(crate) fn run(arguments: &Fit, after_dashes: bool) -> Result<ExitStatus, Error> {
    let started = Instant::now();
    let words = Words::new(arguments.program.clone(), after_dashes);
    let choice = gpu_choice::choose(&arguments.gpu)?;
    let mut program = program::prepare((&arguments.gpu, &choice), None, &arguments.run, &words)?;
    program.set_others(arguments.others.others.unwrap_or_default())?;
    program.is_quiet = true;
    if arguments.run.steps.is_none() && arguments.largest().is_none() {
        // A plan is judged by the stage that decides.
        program.spec.options.stop_at = program.spec.options.stop_at.with_life();
    }
    if let Some(report) = asks_for_plan(arguments).then(|| kept::find(arguments, &program)).flatten() {
        return show(arguments, &report);
    }
    interrupt::begin_examination();
    let progress = SearchProgress::of_runs();
    let report = search(arguments, &program, &progress, started)?;
    drop(progress);
    show(arguments, &report)
}

/// True if the command is about the plan of a search that may be kept.
fn asks_for_plan(arguments: &Fit) -> bool {
    (arguments.emit.is_some() || arguments.apply) && !arguments.no_cache
}

/// Searches for plans, or for the largest size.
fn search(arguments: &Fit, program: &Program, progress: &SearchProgress, started: Instant) -> Result<FitReport, Error> {
    let case = input::case(arguments, program);
    let jobs = arguments.jobs.map_or_else(default_jobs, std::num::NonZeroUsize::get);
    let tunes = arguments.largest().is_none();
    let runner = TrialRunner::new(program, jobs, tunes, !arguments.no_cache, Variant::need(arguments.with.clone()))?;
    let (target, batch_arg) = (case.gpu.target_bytes, arguments.batch_arg.as_deref());
    let rates = program.profile.rates();
    let mut runner = ShownRunner { runner, display: progress, rates };
    let mut bench = Bench { runner: &mut runner, jobs, target, batch_arg };
    let mut search = Search::new(input::targets(&case), input::allowed(arguments));
    bench.explore(&mut search, tunes)?;
    if search.unchanged().is_none_or(|trial| trial.ending != Ending::Done) {
        let first = runner.runner.stopped();
        drop(runner);
        return match first {
            Some(first) if has_used_gpu(&first) => {
                let surroundings = program::find_surroundings(program);
                let seconds = started.elapsed().as_secs_f64();
                Ok(diagnose::fit_stopped(&case, &first.run, &first.ended, surroundings, seconds))
            }
            Some(first) => Err(stopped_early(&first)),
            None if interrupt::has_come() => Err(Error::Stopped(
                "the search was stopped before the program had used a GPU: nothing was seen".to_owned(),
            )),
            None => Err(explain_failure(program, &search)),
        };
    }
    let found = FoundPlans::of(&search, target);
    let (found, runs) = if let Some(kind) = arguments.largest() {
        let larger = input::next_gpu(&case);
        let largest = find_largest(&mut bench, &search, kind, larger.as_ref())?
            .map_err(|why| if kind == SizeKind::Batch { Error::NoBatch(why) } else { Error::NoSize(why) })?;
        let largest = MaxBatch { with: arguments.with.clone(), ..largest };
        (found, FitRuns { max_batch: Some(largest), ..FitRuns::default() })
    } else if interrupt::has_come() {
        (found, FitRuns::default())
    } else {
        bench.run_plans(&search, found)?
    };
    let counts = runner.runner.counts();
    let runs = FitRuns {
        dry_runs: counts.dry_runs,
        cached: counts.cached,
        remark: runner.runner.cache().and_then(RunCache::remark),
        surroundings: program::find_surroundings(program),
        is_interrupted: interrupt::has_come(),
        seconds: started.elapsed().as_secs_f64(),
        ..runs
    };
    let is_whole = !runs.is_interrupted && tunes;
    let report = diagnose::fit(&case, &search, found, runs);
    let report = if tunes && cause::may_hide_one(&report) { cause::add(report, arguments, program) } else { report };
    let report = FitReport { seconds: started.elapsed().as_secs_f64(), ..report };
    if is_whole && !report.interrupted && !arguments.no_cache {
        let sources = search.unchanged().map(|trial| trial.sources.as_slice()).unwrap_or_default();
        kept::keep(arguments, program, &report, sources);
    }
    Ok(report)
}

/// True if the first dry run showed something before it was stopped.
fn has_used_gpu(first: &StoppedTrial) -> bool {
    first.run.processes.iter().any(|process| process.ledger.fullest().is_some())
}

/// The failure of a search that was stopped before the program had used a GPU.
fn stopped_early(first: &StoppedTrial) -> Error {
    let by = first.ended.stop_cause().unwrap_or(StopCause::Interrupt);
    let at = find_stop(&first.run, Some(&first.ended), None).and_then(|stopped| stopped.location);
    let at = at.map(|location| (location.file, location.line));
    let failure = ProgramFailure::Stopped { by, seconds: first.ended.seconds, at, output: String::new() };
    drive::Error::Program(Box::new(failure)).into()
}

/// Explains why the unchanged program does not run: as `check` would, after a run of its own.
fn explain_failure(program: &Program, search: &Search) -> Error {
    let message = match search.unchanged().map(|trial| &trial.ending) {
        Some(Ending::RanOut) => {
            let failure = ProgramFailure::RanOutUnlimited { output: String::new() };
            return drive::Error::Program(Box::new(failure)).into();
        }
        Some(Ending::Failed { message }) if !interrupt::has_come() => message.clone(),
        Some(Ending::Done | Ending::Failed { .. }) | None => return drive::Error::Interrupted.into(),
    };
    let check = |folder: &Path| {
        let conditions = Conditions::on_device(Vec::new()).with_limit(Limit::Unlimited);
        record(program, &conditions, folder)?.check_facts()
    };
    let alone = RunDir::make(None).and_then(|folder| check(folder.path()));
    alone.err().map_or(Error::OnlyForked(message), Error::from)
}

fn show(arguments: &Fit, report: &FitReport) -> Result<ExitStatus, Error> {
    if arguments.emit.is_some() || arguments.apply {
        output::say(&terminal::fit_headline(report));
        report.kept_seconds.into_iter().for_each(kept::say_age);
    }
    match arguments.emit {
        Some(Emit::Diff) => apply::emit_diff(report, arguments)?,
        Some(Emit::Command) => apply::emit_command(report, &input::command(arguments))?,
        None if arguments.apply => apply::apply(report, arguments)?,
        None => return show_report(arguments, report),
    }
    Ok(status(report))
}

fn show_report(arguments: &Fit, report: &FitReport) -> Result<ExitStatus, Error> {
    let detail = if arguments.verbose { Detail::Full } else { Detail::Brief };
    output::show(report, arguments.format.chosen(), detail)?;
    Ok(status(report))
}

fn status(report: &FitReport) -> ExitStatus {
    let is_mended = report.cause.is_some();
    let fits = match &report.max_batch {
        Some(most) => most.size > 0 || report.verdict == FitVerdict::Fits,
        None => is_mended || report.verdict != FitVerdict::DoesNotFit,
    };
    if fits { ExitStatus::Fits } else { ExitStatus::Found }
}
