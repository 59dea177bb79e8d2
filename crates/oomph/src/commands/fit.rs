//! `oomph fit`: the smallest change that makes a program fit. `diagnose` decides what to run, this runs it.

mod arguments;
mod emit;
mod kept;
mod laboratory;

use std::time::{Duration, Instant};

use diagnose::{Allowed, BatchRun, BatchSearch, Ending, FitCase, Search, Trial, Variant};
use indicatif::{ProgressBar, ProgressStyle};
use report::fit::{Batch, FitGpu, FitReport, FitVerdict, MaxBatch};
use report::render::{concise, github, json, terminal};
use report::{Assumption, Change};
use trace::Bytes;

use self::arguments::Emit;
pub(crate) use self::arguments::{EXAMPLES, Fit};
use self::laboratory::{Laboratory, default_jobs};
use crate::args::Format;
use crate::commands::check::{Pass, Plan, card_assumptions, fail_without_facts, plan, record};
use crate::error::{Error, ProgramFailure};
use crate::launch::Shown;
use crate::rundir::Place;
use crate::{ExitStatus, interrupt, output};

/// What a dry run takes of the host's memory, by experience: PyTorch and a model's host copy.
const HOST_MEMORY_OF_A_RUN: Bytes = Bytes::from_gib(2);
/// So many plans are timed.
const PLANS_TIMED: usize = 4;
/// The sizes of the guides' tables.
const VRAM_GIB: [u64; 9] = [8, 12, 16, 24, 32, 40, 48, 80, 141];

/// Searches and prints.
pub(crate) fn run(arguments: &Fit) -> Result<ExitStatus, Error> {
    let started = Instant::now();
    let check = arguments.check();
    let mut plan = plan(&check)?;
    plan.notes_files = !arguments.no_cache;
    plan.shown = Shown::Nothing;
    let case = case(arguments, &plan);
    let jobs = arguments.jobs.map_or_else(|| default_jobs(HOST_MEMORY_OF_A_RUN), std::num::NonZeroUsize::get);
    let watching = Watching::start();
    let laboratory = Laboratory::start(&check, &plan, jobs, !arguments.max_batch)?;
    let mut bench =
        Bench { plan: &plan, laboratory, watching: &watching, jobs, batch_arg: arguments.batch_arg.as_deref() };
    let mut search = Search::new(targets(&case), allowed(arguments));
    explore(&mut bench, &mut search, !arguments.max_batch)?;
    if search.unchanged().is_none_or(|trial| trial.ending != Ending::Done) {
        drop(bench);
        return Err(failure_of_base(&plan, &search));
    }
    let mut report = diagnose::fit(&case, &search);
    if arguments.max_batch {
        report.max_batch = Some(largest_batch(&mut bench, &search, case.gpu.target_bytes)?);
    }
    if !interrupt::came() && !arguments.max_batch {
        report = timed(&mut bench, report)?;
        hold(&mut bench, &mut report)?;
        explain_floor(&mut bench, &search, &mut report)?;
    }
    account(&bench.laboratory, &mut report);
    drop(bench);
    report.interrupted = interrupt::came();
    drop(watching);
    report.seconds = started.elapsed().as_secs_f64();
    show(arguments, &report)
}

/// Runs what the search asks for, until it asks for nothing more or is interrupted; without `plans` the unchanged program alone.
fn explore(bench: &mut Bench, search: &mut Search, plans: bool) -> Result<(), Error> {
    loop {
        let next = search.next(bench.jobs);
        let made: Vec<Variant> =
            next.iter().map(|variant| Variant { changes: bench.changes(search, variant), ..variant.clone() }).collect();
        let mut trials = Vec::new();
        let went_on = bench.run(&made, &mut |index, trial| trials.push((index, trial)))?;
        for (index, trial) in trials {
            search.learn(&next[index], trial);
        }
        if next.is_empty() || !went_on || !plans {
            return Ok(());
        }
    }
}

/// The largest batch that fits.
fn largest_batch(bench: &mut Bench, search: &Search, target: Bytes) -> Result<MaxBatch, Error> {
    let unchanged = search.unchanged().and_then(|trial| Some((trial, trial.batch.clone()?)));
    let (unchanged, batch) = unchanged.ok_or_else(|| Error::NoBatch(without_batch(search)))?;
    let mut sizes = BatchSearch::new(target, batch.size);
    sizes.learn(BatchRun { size: batch.size, limited: false }, unchanged);
    loop {
        let runs = sizes.next();
        let variants: Vec<Variant> = runs.iter().map(|run| sized(&batch, *run, target)).collect();
        let mut trials = Vec::new();
        let went_on = bench.run(&variants, &mut |index, trial| trials.push((index, trial)))?;
        for (index, trial) in trials {
            sizes.learn(runs[index], &trial);
        }
        if runs.is_empty() || !went_on {
            return Ok(sizes.answer());
        }
    }
}

/// Why no batch size was found, in the words of who looked for it.
fn without_batch(search: &Search) -> String {
    let why = search.unchanged().and_then(|trial| trial.why_no_batch());
    why.unwrap_or("no batch size was found in the program").to_owned()
}

fn sized(batch: &Batch, run: BatchRun, target: Bytes) -> Variant {
    let change = Change::new(remedies::BATCH_SIZE).with("size", run.size).with("arg", batch.name.clone());
    Variant { changes: vec![change], limit: run.limited.then_some(target), recorded: !run.limited, counted: false }
}

/// Where runs are made and watched.
struct Bench<'a> {
    plan: &'a Plan<'a>,
    laboratory: Laboratory<'a>,
    watching: &'a Watching,
    jobs: usize,
    /// What sets the batch size, where the user says it.
    batch_arg: Option<&'a str>,
}

impl Bench<'_> {
    fn run(&mut self, variants: &[Variant], done: &mut dyn FnMut(usize, Trial)) -> Result<bool, Error> {
        let watching = self.watching;
        self.laboratory.run(variants, &mut |index, trial| {
            watching.ran(&variants[index], &trial);
            done(index, trial);
        })
    }

    /// What is changed in a run; the unchanged program is asked what sets its batch size.
    fn changes(&self, search: &Search, variant: &Variant) -> Vec<Change> {
        if !variant.changes.is_empty() {
            return search.to_make(variant);
        }
        let probe = Change::new(remedies::BATCH_SIZE).with("probe", true);
        vec![self.batch_arg.map_or(probe.clone(), |name| probe.with("arg", name))]
    }
}

/// The report with the time of each plan, from the operators that it runs.
fn timed(bench: &mut Bench, report: FitReport) -> Result<FitReport, Error> {
    if report.plans.is_empty() {
        return Ok(report);
    }
    let unchanged = std::iter::once(Vec::new());
    let changes = unchanged.chain(report.plans.iter().take(PLANS_TIMED).map(|plan| plan.changes.clone()));
    let variants: Vec<Variant> = changes.map(|changes| Variant { counted: true, ..Variant::need(changes) }).collect();
    let mut seconds = vec![None; variants.len()];
    let rates = bench.plan.card.profile.rates();
    bench.run(&variants, &mut |index, trial| {
        seconds[index] = trial.work.filter(|_| trial.ending == Ending::Done).map(|work| rates.seconds(&work));
    })?;
    let plans = seconds.split_off(1);
    Ok(match seconds.first() {
        Some(Some(unchanged)) => diagnose::with_times(report, *unchanged, &plans),
        _ => report,
    })
}

/// Runs the first plan, or the unchanged program that fits, in a process of its own: what is said fits was seen to.
fn hold(bench: &mut Bench, report: &mut FitReport) -> Result<(), Error> {
    while report.verdict != FitVerdict::DoesNotFit {
        let changes = report.plans.first().map(|plan| plan.changes.clone()).unwrap_or_default();
        let variant = Variant::within(changes, report.gpu.target_bytes);
        let Some(trial) = bench.laboratory.run_freshly(&variant)? else { return Ok(()) };
        if diagnose::depends_on_chance(report, &trial).is_some()
            && let Some(keeper) = bench.laboratory.keeper()
        {
            keeper.forget();
        }
        if !diagnose::with_fresh_run(report, &trial) {
            return Ok(());
        }
    }
    Ok(())
}

/// Where there is no plan: what stays allocated though everything was done that helps.
fn explain_floor(bench: &mut Bench, search: &Search, report: &mut FitReport) -> Result<(), Error> {
    if report.verdict != FitVerdict::DoesNotFit {
        return Ok(());
    }
    report.floor_holds = search.unchanged().map(|trial| trial.holds.clone()).unwrap_or_default();
    if let Some(floor) = &report.floor {
        let variant = Variant { recorded: true, ..Variant::need(floor.changes.clone()) };
        let mut holds = Vec::new();
        bench.run(&[variant], &mut |_, trial| holds = trial.holds)?;
        report.floor_holds = holds;
    }
    Ok(())
}

/// How the answers were had, and why the next search will have to run the program again.
fn account(laboratory: &Laboratory, report: &mut FitReport) {
    let counts = laboratory.counts();
    (report.runs, report.kept) = (counts.made, counts.kept);
    report.notes.extend(laboratory.keeper().and_then(kept::Keeper::note));
}

fn allowed(arguments: &Fit) -> Allowed {
    Allowed {
        allow: arguments.allow.clone(),
        deny: arguments.deny.clone(),
        keep_numerics: arguments.keep_numerics,
        gpus: arguments.card.gpus.into(),
    }
}

fn targets(case: &FitCase) -> Vec<Bytes> {
    std::iter::once(case.gpu.target_bytes).chain(case.by_vram.iter().map(|(_, target)| *target)).collect()
}

/// What is known before anything was run.
fn case(arguments: &Fit, plan: &Plan) -> FitCase {
    let profile = &plan.card.profile;
    let share = |total: Bytes| {
        Bytes(u64::try_from(u128::from(total.0) * u128::from(arguments.target) / 100).unwrap_or(total.0))
    };
    let gpu = |profile: &gpus::Profile| FitGpu {
        name: profile.name.clone(),
        total_bytes: profile.total_bytes,
        target_bytes: share(profile.total_bytes),
    };
    // No slice of a card, and nothing that shares the CPU's memory: somebody can go and get it.
    let cards = gpus::all().iter().filter(|profile| profile.kind == gpus::GpuKind::Card);
    let mut gpus: Vec<(FitGpu, Bytes)> = cards.map(|profile| (gpu(profile), profile.context_bytes)).collect();
    gpus.sort_by_key(|(gpu, _)| gpu.total_bytes);
    let sizes = if arguments.any_gpu { VRAM_GIB.as_slice() } else { &[] };
    FitCase {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        folder: std::env::current_dir().unwrap_or_default().display().to_string(),
        gpu: gpu(profile),
        by_vram: sizes.iter().map(|gib| (Bytes::from_gib(*gib), share(Bytes::from_gib(*gib)))).collect(),
        context_bytes: profile.context_bytes,
        gpus,
        assumptions: card_assumptions(profile).collect::<Vec<Assumption>>(),
        notes: Vec::new(),
    }
}

/// Why a program that does not run has no plan. What is wrong with it is said as `check` says it, after a run of its own.
fn failure_of_base(plan: &Plan, search: &Search) -> Error {
    let message = match search.unchanged().map(|trial| &trial.ending) {
        Some(Ending::RanOut) => return failed(ProgramFailure::RanOutUnlimited { output: String::new() }),
        Some(Ending::Failed { message }) if !interrupt::came() => message.clone(),
        Some(Ending::Done | Ending::Failed { .. }) | None => return Error::Interrupted,
    };
    let alone = Place::make(None).and_then(|place| {
        let (launch, run) = record(plan, place.path(), Pass::Unlimited)?;
        fail_without_facts(&launch, &run, place.path())
    });
    alone.err().unwrap_or(Error::OnlyForked(message))
}

fn failed(failure: ProgramFailure) -> Error {
    Error::Program(Box::new(failure))
}

fn show(arguments: &Fit, report: &FitReport) -> Result<ExitStatus, Error> {
    if arguments.emit == Some(Emit::Diff) {
        output::say(&terminal::fit_headline(report));
        output::verbatim(&emit::diff(report, arguments.script())?)?;
        return Ok(status(report));
    }
    let text = match arguments.printed.format() {
        Format::Terminal => terminal::fit(report, &output::look()),
        Format::Concise => concise::fit(report),
        Format::Github => github::fit(report),
        Format::Json => json::fit(report)?,
    };
    output::answer(&text)?;
    Ok(status(report))
}

fn status(report: &FitReport) -> ExitStatus {
    let fits = match &report.max_batch {
        Some(most) => most.size > 0 || report.verdict == FitVerdict::Fits,
        None => report.verdict != FitVerdict::DoesNotFit,
    };
    if fits { ExitStatus::Fits } else { ExitStatus::Found }
}

/// The search as it is seen: at a terminal a line with the best so far; Ctrl-C ends it with what it has.
struct Watching {
    bar: ProgressBar,
}

impl Watching {
    fn start() -> Watching {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {pos} dry runs {elapsed:.dim} {msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        interrupt::search_begins();
        Watching { bar }
    }

    fn ran(&self, variant: &Variant, trial: &Trial) {
        self.bar.inc(1);
        let what =
            if variant.is_unchanged() { "unchanged".to_owned() } else { report::render::named(&variant.changes) };
        self.bar.set_message(format!("{what}: {}", trial.usage.device_bytes));
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        interrupt::search_ends();
        self.bar.finish_and_clear();
    }
}
