//! `oomph fit`: the smallest change that makes a program fit. `diagnose` chooses the runs, and `trial_runner` performs
//! them.

mod bench;
mod emit;
mod input;
mod jobs;
mod max_batch;
mod trial_runner;

use std::path::Path;
use std::time::Instant;

use diagnose::{Ending, FitRuns, FoundPlans, Search};
use report::fit::{FitReport, FitVerdict};
use report::render::terminal::{self, Detail};
use run::{Conditions, Limit};

use self::bench::Bench;
use self::max_batch::find_largest_batch;
use self::trial_runner::TrialRunner;
use crate::args::{Emit, Fit};
use crate::dry_run::program::{self, Program};
use crate::dry_run::record::record;
use crate::dry_run::run_cache::RunCache;
use crate::effects::interrupt;
use crate::effects::run_dir::RunDir;
use crate::effects::search_progress::SearchProgress;
use crate::environment::describe_hidden_gpus;
use crate::error::{Error, ProgramFailure};
use crate::exit::ExitStatus;
use crate::output;
use crate::words::Words;

/// Searches and prints. `after_dashes`: the program was written after a `--`.
pub(crate) fn run(arguments: &Fit, after_dashes: bool) -> Result<ExitStatus, Error> {
    let started = Instant::now();
    let words = Words::new(arguments.program.clone(), after_dashes);
    let mut program = program::prepare(&arguments.gpu, None, &arguments.run, &words)?;
    program.set_others(&arguments.others)?;
    program.is_quiet = true;
    let progress = SearchProgress::of_runs();
    let mut report = search(arguments, &program, &progress, started)?;
    report.notes.extend(describe_hidden_gpus());
    report.effects = program.outside.effects();
    report.notes.extend(program.outside.describe());
    drop(progress);
    show(arguments, &report)
}

/// Searches for plans, or for the largest batch.
fn search(arguments: &Fit, program: &Program, progress: &SearchProgress, started: Instant) -> Result<FitReport, Error> {
    let case = input::case(arguments, program);
    let jobs = arguments.jobs.map_or_else(jobs::default_jobs, std::num::NonZeroUsize::get);
    let runner = TrialRunner::new(program, jobs, !arguments.max_batch, !arguments.no_cache)?;
    let (target, batch_arg) = (case.gpu.target_bytes, arguments.batch_arg.as_deref());
    let mut bench = Bench { program, runner, display: progress, jobs, target, batch_arg };
    let mut search = Search::new(input::targets(&case), input::allowed(arguments));
    bench.explore(&mut search, !arguments.max_batch)?;
    if search.unchanged().is_none_or(|trial| trial.ending != Ending::Done) {
        drop(bench);
        return Err(explain_failure(program, &search));
    }
    let found = FoundPlans::of(&search, target);
    let runs = if arguments.max_batch {
        FitRuns { max_batch: Some(find_largest_batch(&mut bench, &search, target)?), ..FitRuns::default() }
    } else if interrupt::has_come() {
        FitRuns::default()
    } else {
        bench.run_plans(&search, &found)?
    };
    let counts = bench.runner.counts();
    let runs = FitRuns {
        dry_runs: counts.dry_runs,
        cached: counts.cached,
        remark: bench.runner.cache().and_then(RunCache::remark),
        is_interrupted: interrupt::has_come(),
        seconds: started.elapsed().as_secs_f64(),
        ..runs
    };
    Ok(diagnose::fit(&case, &search, found, runs))
}

/// Explains why the unchanged program does not run: as `check` would, after a run of its own.
fn explain_failure(program: &Program, search: &Search) -> Error {
    let message = match search.unchanged().map(|trial| &trial.ending) {
        Some(Ending::RanOut) => {
            return Error::Program(Box::new(ProgramFailure::RanOutUnlimited { output: String::new() }));
        }
        Some(Ending::Failed { message }) if !interrupt::has_come() => message.clone(),
        Some(Ending::Done | Ending::Failed { .. }) | None => return Error::Interrupted,
    };
    let check = |folder: &Path| {
        let conditions = Conditions::on_device(Vec::new()).with_limit(Limit::Unlimited);
        record(program, &conditions, folder)?.check_facts()
    };
    let alone = RunDir::make(None).and_then(|folder| check(folder.path()));
    alone.err().unwrap_or(Error::OnlyForked(message))
}

fn show(arguments: &Fit, report: &FitReport) -> Result<ExitStatus, Error> {
    if arguments.emit == Some(Emit::Diff) {
        output::say(&terminal::fit_headline(report));
        output::verbatim(&emit::diff(report, arguments.script())?)?;
        return Ok(status(report));
    }
    output::show(report, arguments.format.chosen(), Detail::Full)?;
    Ok(status(report))
}

fn status(report: &FitReport) -> ExitStatus {
    let fits = match &report.max_batch {
        Some(most) => most.size > 0 || report.verdict == FitVerdict::Fits,
        None => report.verdict != FitVerdict::DoesNotFit,
    };
    if fits { ExitStatus::Fits } else { ExitStatus::Found }
}
