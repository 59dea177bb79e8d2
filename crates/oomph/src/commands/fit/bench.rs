//! The steps of a search that need runs.

use diagnose::{Ending, Search, Trial, Variant};
use report::Change;
use report::fit::{FitReport, FitVerdict};

use super::trial_runner::TrialRunner;
use super::watching::Watching;
use crate::dry_run::program::Program;
use crate::dry_run::run_cache::RunCache;
use crate::error::Error;

/// The number of plans that are timed.
const PLANS_TIMED: usize = 4;

/// Runs what a search asks for, and shows the progress.
pub(super) struct Bench<'a> {
    pub(super) program: &'a Program,
    pub(super) runner: TrialRunner<'a>,
    pub(super) watching: &'a Watching,
    /// The number of variants that are asked for at a time.
    pub(super) jobs: usize,
    /// The user's name for the option or variable that sets the batch size.
    pub(super) batch_arg: Option<&'a str>,
}

impl Bench<'_> {
    /// Runs variants and passes each result on. Returns false if Ctrl-C ended the search.
    pub(super) fn run(&mut self, variants: &[Variant], done: &mut dyn FnMut(usize, Trial)) -> Result<bool, Error> {
        let watching = self.watching;
        self.runner.run(variants, &mut |index, trial| {
            watching.show(&variants[index], &trial);
            done(index, trial);
        })
    }

    /// Runs what the search asks for until it asks for no more; without `plans` the unchanged program alone.
    pub(super) fn explore(&mut self, search: &mut Search, plans: bool) -> Result<(), Error> {
        loop {
            let next = search.next(self.jobs);
            let changed = |variant: &Variant| Variant { changes: self.changes(search, variant), ..variant.clone() };
            let variants: Vec<Variant> = next.iter().map(changed).collect();
            let mut trials = Vec::new();
            let goes_on = self.run(&variants, &mut |index, trial| trials.push((index, trial)))?;
            for (index, trial) in trials {
                search.learn(&next[index], trial);
            }
            if next.is_empty() || !goes_on || !plans {
                return Ok(());
            }
        }
    }

    /// The changes of a run. The run of the unchanged program also finds what sets its batch size.
    fn changes(&self, search: &Search, variant: &Variant) -> Vec<Change> {
        if !variant.changes.is_empty() {
            return search.to_make(variant);
        }
        let probe = Change::new(remedies::BATCH_SIZE).with("probe", true);
        vec![self.batch_arg.map_or(probe.clone(), |name| probe.with("arg", name))]
    }

    /// Adds the time of each plan, from the operators that the plan runs.
    pub(super) fn add_times(&mut self, report: FitReport) -> Result<FitReport, Error> {
        if report.plans.is_empty() {
            return Ok(report);
        }
        let unchanged = std::iter::once(Vec::new());
        let changes = unchanged.chain(report.plans.iter().take(PLANS_TIMED).map(|plan| plan.changes.clone()));
        let variants: Vec<Variant> =
            changes.map(|changes| Variant { counted: true, ..Variant::need(changes) }).collect();
        let mut seconds = vec![None; variants.len()];
        let rates = self.program.profile.rates();
        self.run(&variants, &mut |index, trial| {
            let work = trial.work.filter(|_| trial.ending == Ending::Done);
            seconds[index] = work.map(|work| rates.seconds(&work));
        })?;
        let plans = seconds.split_off(1);
        Ok(match seconds.first() {
            Some(Some(unchanged)) => diagnose::with_times(report, *unchanged, &plans),
            _ => report,
        })
    }

    /// Runs the first plan, or the unchanged program that fits, in a process of its own: a plan that is shown was seen to fit.
    pub(super) fn confirm(&mut self, report: &mut FitReport) -> Result<(), Error> {
        while report.verdict != FitVerdict::DoesNotFit {
            let changes = report.plans.first().map(|plan| plan.changes.clone()).unwrap_or_default();
            let variant = Variant::within(changes, report.gpu.target_bytes);
            let Some(trial) = self.runner.run_alone(&variant)? else { return Ok(()) };
            if diagnose::depends_on_chance(report, &trial).is_some()
                && let Some(cache) = self.runner.cache()
            {
                cache.forget();
            }
            if !diagnose::with_fresh_run(report, &trial) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Where no plan fits: adds the memory that stays allocated although every useful remedy was applied.
    pub(super) fn explain_floor(&mut self, search: &Search, report: &mut FitReport) -> Result<(), Error> {
        if report.verdict != FitVerdict::DoesNotFit {
            return Ok(());
        }
        report.floor_holds = search.unchanged().map(|trial| trial.holds.clone()).unwrap_or_default();
        if let Some(floor) = &report.floor {
            let variant = Variant { recorded: true, ..Variant::need(floor.changes.clone()) };
            let mut holds = Vec::new();
            self.run(&[variant], &mut |_, trial| holds = trial.holds)?;
            report.floor_holds = holds;
        }
        Ok(())
    }

    /// Adds the numbers of dry runs and of cached results, and why results were not stored.
    pub(super) fn count_runs(&self, report: &mut FitReport) {
        let counts = self.runner.counts();
        (report.runs, report.kept) = (counts.dry_runs, counts.cached);
        report.notes.extend(self.runner.cache().and_then(RunCache::remark));
    }
}
