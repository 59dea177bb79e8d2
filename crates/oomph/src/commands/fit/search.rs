//! The search of `fit`: the program's own options, the mistake in the source, edits and smaller sizes.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use base::interrupt;
use diagnose::failure::ProgramFailure;
use diagnose::halt::find_stop;
use diagnose::{Bench, Depth, Ending, FitCase, FitRuns, FoundPlans, Search, Variant, find_largest};
use drive::Program;
use drive::dry_run::jobs::default_jobs;
use drive::dry_run::run_cache::RunCache;
use drive::dry_run::trial_runner::{Counts, StoppedTrial, TrialRunner};
use drive::run_folder::RunDir;
use report::fit::{FitReport, MaxBatch, SizeKind};
use trace::Bytes;
use trace::run::StopCause;

use super::cause::{self, Mistake};
use super::mend::{Fixed, MistakeSearch};
use super::runner::ShownRunner;
use super::{input, kept};
use crate::args::Fit;
use crate::effects::search_progress::SearchProgress;
use crate::error::Error;
use crate::program;

/// Files that Python reads in place of the program's own.
type Overlay = BTreeMap<PathBuf, PathBuf>;

/// Searches for plans, or for the largest size, and keeps the search for `--emit` and `--apply`.
pub(super) fn run(
    arguments: &Fit,
    program: &Program,
    progress: &SearchProgress,
    started: Instant,
) -> Result<FitReport, Error> {
    let task = SearchTask { arguments, program, progress, started, overlay: Overlay::new(), need_before: None };
    let (report, sources) = task.search()?;
    let report = FitReport { seconds: started.elapsed().as_secs_f64(), ..report };
    if arguments.largest().is_none() && !report.interrupted && !arguments.no_cache {
        kept::keep(arguments, program, &report, &sources);
    }
    Ok(report)
}

/// A program to search.
#[derive(Clone)]
struct SearchTask<'a> {
    arguments: &'a Fit,
    program: &'a Program,
    progress: &'a SearchProgress,
    started: Instant,
    /// The sources with a mistake mended.
    overlay: Overlay,
    /// The need with the mistake.
    need_before: Option<Bytes>,
}

/// A mend lowers the need by this part of it, or the mistake is none.
const LEAST_PART: u64 = 100;

impl SearchTask<'_> {
    /// Searches; also returns the program's own sources.
    fn search(&self) -> Result<(FitReport, Vec<PathBuf>), Error> {
        let SearchTask { arguments, program, .. } = self;
        let case = input::case(arguments, program);
        let jobs = arguments.jobs.map_or_else(default_jobs, std::num::NonZeroUsize::get);
        let tunes = arguments.largest().is_none();
        let mut runner = self.make_runner(jobs, tunes)?;
        let (target, batch_arg) = (case.gpu.target_bytes, arguments.batch_arg.as_deref());
        let mut bench = Bench { runner: &mut runner, jobs, target, batch_arg };
        let mut search = Search::new(input::targets(&case), input::allowed(arguments));
        bench.explore(&mut search, Depth::Unchanged)?;
        let need = search.unchanged().map(|trial| trial.usage.device_bytes);
        let helps = self.need_before.zip(need).is_none_or(|(before, now)| now < before - Bytes(before.0 / LEAST_PART));
        let tunes = tunes && helps;
        if tunes {
            bench.explore(&mut search, Depth::OwnOptions)?;
        }
        if search.unchanged().is_none_or(|trial| trial.ending != Ending::Done) {
            let first = runner.runner.stopped();
            drop(runner);
            return self.without_plans(&case, &search, first);
        }
        let sources = search.unchanged().map(|trial| trial.sources.clone()).unwrap_or_default();
        let looks_for_mistake = tunes && self.overlay.is_empty() && search.needs_edits() && !interrupt::has_come();
        let mistake = if looks_for_mistake {
            let nothing_ran = bench.runner.runner.counts().dry_runs == 0;
            let kept = if nothing_ran { kept::find(arguments, program) } else { None };
            if let Some(kept) = kept {
                let all = kept.runs + kept.kept;
                return Ok((FitReport { kept_seconds: None, runs: 0, kept: all, ..kept }, sources));
            }
            self.mend(need.unwrap_or_default())
        } else {
            MistakeSearch::default()
        };
        let (found, runs) = if let Some(kind) = arguments.largest() {
            let larger = input::next_gpu(&case);
            let largest = find_largest(&mut bench, &search, kind, larger.as_ref())?
                .map_err(|why| if kind == SizeKind::Batch { Error::NoBatch(why) } else { Error::NoSize(why) })?;
            let largest = MaxBatch { with: arguments.with.clone(), ..largest };
            (FoundPlans::of(&search, target), FitRuns { max_batch: Some(largest), ..FitRuns::default() })
        } else {
            let goes_on = tunes && mistake.mended.is_none();
            if mistake.cause.is_some() && !arguments.try_all {
                // The mend is the plan. Of the remedies this one mends, too.
                search.keep_only(remedies::NO_GRAD_IN_EVAL);
            }
            if goes_on && !interrupt::has_come() {
                bench.explore(&mut search, Depth::Everything)?;
            }
            let found = FoundPlans::of(&search, target);
            if goes_on && !interrupt::has_come() {
                bench.run_plans(&search, found)?
            } else {
                (found, FitRuns::default())
            }
        };
        let runs = self.facts(runs, runner.runner.counts(), runner.runner.cache().and_then(RunCache::remark));
        let report = diagnose::fit(&case, &search, found, runs);
        Ok((mistake.add_to(report, case.emit), sources))
    }

    /// Finds the mistake by a check, mends it where lint has a fix, and searches for plans of the mended program. The search goes on whatever
    /// becomes of these. `need`: of the program with the mistake.
    fn mend(&self, need: Bytes) -> MistakeSearch {
        let unknown = |what: &str, error: &Error| {
            let note = (!interrupt::has_come()).then(|| format!("{what}: {error}"));
            MistakeSearch { note, ..MistakeSearch::default() }
        };
        let (found, runs) = match cause::find(self.arguments, self.program) {
            Ok(found) => found,
            Err(error) => return unknown("whether a mistake is the cause is not known", &error),
        };
        let Some(Mistake { cause, fixed, is_decisive }) = found else {
            return MistakeSearch { runs, ..MistakeSearch::default() };
        };
        let searched = fixed.map(|fixed| (self.search_copy(&fixed, need), fixed));
        let found = match searched {
            Some((Ok(after), fixed)) => MistakeSearch::of(cause, is_decisive, &fixed, after),
            Some((Err(error), _)) => MistakeSearch {
                cause: is_decisive.then_some(cause),
                ..unknown("the program with its mistake mended was not run", &error)
            },
            None => MistakeSearch { cause: is_decisive.then_some(cause), ..MistakeSearch::default() },
        };
        MistakeSearch { runs: found.runs + runs, ..found }
    }

    /// Searches while the program reads the mended copy.
    fn search_copy(&self, fixed: &Fixed, need: Bytes) -> Result<FitReport, Error> {
        let folder = RunDir::make(None)?;
        let copy = folder.path().join(fixed.path.file_name().unwrap_or_default());
        fs::write(&copy, &fixed.text).map_err(|source| Error::Unwritable { path: copy.clone(), source })?;
        let overlay = Overlay::from([(fixed.path.clone(), copy)]);
        SearchTask { overlay, need_before: Some(need), ..self.clone() }.search().map(|(report, _)| report)
    }

    /// Makes the runner of the search.
    fn make_runner(&self, jobs: usize, tunes: bool) -> Result<ShownRunner<'_>, Error> {
        let SearchTask { arguments, program, .. } = self;
        let always = Variant::need(arguments.with.clone());
        let runner = TrialRunner::new(program, jobs, tunes, !arguments.no_cache, always)?;
        let runner = if self.overlay.is_empty() { runner } else { runner.reading(self.overlay.clone()) };
        Ok(ShownRunner { runner, display: self.progress, rates: program.profile.rates() })
    }

    /// The facts about the runs for a report.
    fn facts(&self, runs: FitRuns, counts: Counts, remark: Option<String>) -> FitRuns {
        FitRuns {
            dry_runs: counts.dry_runs,
            cached: counts.cached,
            remark,
            surroundings: program::find_surroundings(self.program),
            is_interrupted: interrupt::has_come(),
            seconds: self.started.elapsed().as_secs_f64(),
            ..runs
        }
    }

    /// The report of a search whose first run was stopped, or the reason why it has none.
    fn without_plans(
        &self,
        case: &FitCase,
        search: &Search,
        first: Option<StoppedTrial>,
    ) -> Result<(FitReport, Vec<PathBuf>), Error> {
        match first {
            Some(first) if has_used_gpu(&first) => {
                let surroundings = program::find_surroundings(self.program);
                let seconds = self.started.elapsed().as_secs_f64();
                let report = diagnose::fit_stopped(case, &first.run, &first.ended, surroundings, seconds);
                Ok((report, Vec::new()))
            }
            Some(first) => Err(stopped_early(&first)),
            None if interrupt::has_come() => Err(Error::Stopped(
                "the search was stopped before the program had used a GPU: nothing was seen".to_owned(),
            )),
            None => Err(explain_failure(self.program, search)),
        }
    }
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
    base::Error::Program(Box::new(failure)).into()
}

/// Explains why the unchanged program does not run: as `check` would, after a run of its own.
fn explain_failure(program: &Program, search: &Search) -> Error {
    let message = match search.unchanged().map(|trial| &trial.ending) {
        Some(Ending::RanOut) => {
            let failure = ProgramFailure::RanOutUnlimited { output: String::new() };
            return base::Error::Program(Box::new(failure)).into();
        }
        Some(Ending::Failed { message }) if !interrupt::has_come() => message.clone(),
        Some(Ending::Done | Ending::Failed { .. }) | None => return base::Error::Interrupted.into(),
    };
    program::explain_failure(program, message)
}
