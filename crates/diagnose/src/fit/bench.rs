//! The steps of a search that need runs: asks a [`Runner`] for each.

use report::fit::FitVerdict;
use report::{Change, Part};
use trace::Bytes;
use trace::run::GpuWork;

use super::{Depth, Ending, FitRuns, FoundPlans, Search, StepTimes, Trial, Variant};

/// The number of plans that are timed: those of the answer.
const PLANS_TIMED: usize = 3;

/// Performs the runs of a search.
pub trait Runner {
    /// The failure of the machine, not of a variant.
    type Error;

    /// Runs variants, and passes the index and the result of each on. Returns false if the user ended the search.
    fn run(&mut self, variants: &[Variant], done: &mut dyn FnMut(usize, Trial)) -> Result<bool, Self::Error>;

    /// Runs a variant in its own process, with nothing else running; `None` if the user ended the search.
    fn run_alone(&mut self, variant: &Variant) -> Result<Option<Trial>, Self::Error>;

    /// Forgets stored results: the program depends on chance.
    fn forget(&mut self);

    /// The seconds that the GPU takes for operators.
    fn seconds(&self, work: &GpuWork) -> f64;
}

/// Runs what a search asks for.
pub struct Bench<'a, R> {
    /// Performs the runs.
    pub runner: &'a mut R,
    /// The number of variants that are asked for at a time.
    pub jobs: usize,
    /// The memory that a plan may use.
    pub target: Bytes,
    /// The user's name for the option or variable that sets the batch size.
    pub batch_arg: Option<&'a str>,
}

impl<R: Runner> Bench<'_, R> {
    /// Runs the requests of the search until there are no more.
    pub fn explore(&mut self, search: &mut Search, depth: Depth) -> Result<(), R::Error> {
        loop {
            let next = search.next(self.jobs, depth);
            let changed = |variant: &Variant| Variant { changes: self.changes(search, variant), ..variant.clone() };
            let variants: Vec<Variant> = next.iter().map(changed).collect();
            let mut trials = Vec::new();
            let goes_on = self.runner.run(&variants, &mut |index, trial| trials.push((index, trial)))?;
            for (index, trial) in trials {
                search.learn(&next[index], trial);
            }
            if next.is_empty() || !goes_on || depth == Depth::Unchanged {
                return Ok(());
            }
        }
    }

    /// The changes of a run. The run of the unchanged program also finds the setting of its batch size.
    fn changes(&self, search: &Search, variant: &Variant) -> Vec<Change> {
        if !variant.changes.is_empty() {
            return search.to_make(variant);
        }
        let probe = Change::new(remedies::BATCH_SIZE).with(remedies::setting::PROBE, true);
        let own = Change::new(remedies::OWN_OPTIONS).with(remedies::setting::PROBE, true);
        let sizes = ["sequence-length", "resolution", remedies::ACTIVATION_MEMORY_BUDGET]
            .map(|name| Change::new(name).with(remedies::setting::PROBE, true));
        let batch = self.batch_arg.map_or(probe.clone(), |name| probe.with(remedies::setting::ARG, name));
        [batch, own].into_iter().chain(sizes).collect()
    }

    /// Runs the found plans to confirm them, in their order by counted times.
    pub fn run_plans(&mut self, search: &Search, found: FoundPlans) -> Result<(FoundPlans, FitRuns), R::Error> {
        let times = self.count_times(search, &found)?;
        let found = found.with_times(times.as_ref());
        let fresh = self.confirm(&found)?;
        let floor_holds = if found.clone().confirm(&fresh).verdict() == FitVerdict::DoesNotFit {
            self.explain_floor(search, &found)?
        } else {
            Vec::new()
        };
        Ok((found, FitRuns { fresh, floor_holds, ..FitRuns::default() }))
    }

    /// Counts the operators of the first plans, and computes their times.
    fn count_times(&mut self, search: &Search, found: &FoundPlans) -> Result<Option<StepTimes>, R::Error> {
        if found.plans().is_empty() {
            return Ok(None);
        }
        let plans = found.plans().iter().take(PLANS_TIMED).map(|plan| plan.changes.clone());
        let variants: Vec<Variant> = std::iter::once(Vec::new()).chain(plans).map(Variant::counted).collect();
        let known = |variant: &Variant| search.trial(variant).and_then(work_of);
        let mut works: Vec<Option<GpuWork>> = variants.iter().map(known).collect();
        let (indices, missing): (Vec<usize>, Vec<Variant>) =
            variants.into_iter().enumerate().filter(|(index, _)| works[*index].is_none()).unzip();
        self.runner.run(&missing, &mut |index, trial| works[indices[index]] = work_of(&trial))?;
        let mut seconds: Vec<_> =
            works.iter().map(|work| work.as_ref().map(|work| self.runner.seconds(work))).collect();
        let plans = seconds.split_off(1);
        Ok(seconds.first().copied().flatten().map(|unchanged| StepTimes { unchanged, plans }))
    }

    /// Runs the first plan, or the unchanged program that fits, in a separate process, and the next plan after a
    /// failure: a shown plan was seen to fit.
    fn confirm(&mut self, found: &FoundPlans) -> Result<Vec<Trial>, R::Error> {
        let mut fresh = Vec::new();
        for plan in found.list_unconfirmed() {
            let variant = Variant::within(plan.changes.clone(), self.target);
            let Some(trial) = self.runner.run_alone(&variant)? else { break };
            if plan.depends_on_chance(&trial).is_some() {
                self.runner.forget();
            }
            let holds = trial.ending == Ending::Done;
            fresh.push(trial);
            if holds {
                break;
            }
        }
        Ok(fresh)
    }

    /// The memory that stays allocated under all useful remedies, if no plan fits.
    fn explain_floor(&mut self, search: &Search, found: &FoundPlans) -> Result<Vec<Part>, R::Error> {
        let Some(floor) = found.floor() else {
            return Ok(search.unchanged().map(|trial| trial.holds.clone()).unwrap_or_default());
        };
        let variant = Variant { recorded: true, ..Variant::need(floor.changes.clone()) };
        let mut holds = Vec::new();
        self.runner.run(&[variant], &mut |_, trial| holds = trial.holds)?;
        Ok(holds)
    }
}

/// The counted work of a step.
fn work_of(trial: &Trial) -> Option<GpuWork> {
    trial.work.clone().filter(|_| trial.ending == Ending::Done)
}
